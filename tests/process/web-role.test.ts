// The built site on a database that takes no sign-ups, in each state that was met, and after the cure.
import pLimit from "p-limit";
import pg from "pg";
import { beforeAll, expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { createEmptyDatabase, superuserUrl, type TestDatabase } from "../support/database.ts";
import { queryAs } from "../support/postgres.ts";
import { until } from "../support/run.ts";
import { ada, postSignup, ready, signUp, startSite } from "../support/site.ts";
import { openWire } from "../support/tcp-proxy.ts";

type Wire = Awaited<ReturnType<typeof openWire>>;

/** SQL as a superuser, or an act on the database or the wire to it. */
type Act = string | ((wire: Wire, database: TestDatabase) => unknown);

const reset = /: ALTER ROLE \S+ RESET ALL; ALTER ROLE \S+ IN DATABASE \S+ RESET ALL\./;
const login = /refuses the connection: .*: ALTER ROLE \S+ LOGIN VALID UNTIL 'infinity' PASSWORD/;
const migrating = /\. Migrate: docker compose run --rm --no-deps migrate, npm run migrate, /;
const codes = /\. See docs\/incident\.md, Error codes\./;

const states: [state: string, fault: Act, cure: Act, reason: RegExp][] = [
  [
    "the role names a library that does not exist",
    "ALTER ROLE :role IN DATABASE :name SET local_preload_libraries = 'nonexistent'",
    "ALTER ROLE :role IN DATABASE :name RESET ALL",
    reset,
  ],
  ["the role has no time", "ALTER ROLE :role SET statement_timeout = '1ms'", "ALTER ROLE :role RESET ALL", reset],
  [
    "the role may only read",
    "ALTER ROLE :role SET default_transaction_read_only = on",
    "ALTER ROLE :role RESET ALL",
    reset,
  ],
  [
    "the role may not connect",
    "REVOKE CONNECT ON DATABASE :name FROM PUBLIC, :role",
    "GRANT CONNECT ON DATABASE :name TO :role",
    migrating,
  ],
  [
    "the role has another password",
    "ALTER ROLE :role PASSWORD 'another'",
    "ALTER ROLE :role PASSWORD :password",
    login,
  ],
  ["the role has no login", "ALTER ROLE :role NOLOGIN", "ALTER ROLE :role LOGIN", login],
  [
    "the role has expired",
    "ALTER ROLE :role VALID UNTIL '2020-01-01'",
    "ALTER ROLE :role VALID UNTIL 'infinity'",
    login,
  ],
  [
    "the role has no connection left",
    "ALTER ROLE :role CONNECTION LIMIT 0",
    "ALTER ROLE :role CONNECTION LIMIT -1",
    /: ALTER ROLE \S+ CONNECTION LIMIT -1\./,
  ],
  [
    "the role owns the list",
    (_, { asSuperuser, name }) => asSuperuser(`ALTER TABLE earlyaccess OWNER TO ${name}_web`),
    async (_, database) => {
      await database.asSuperuser(`ALTER TABLE earlyaccess OWNER TO ${database.name}_owner`);
      await migrate(database);
    },
    /Name a role of its own .* set ALLOW_PRIVILEGED_ROLE=true\."/,
  ],
  [
    "the role is a superuser",
    "ALTER ROLE :role SUPERUSER",
    "ALTER ROLE :role NOSUPERUSER",
    /Name a role of its own .* set ALLOW_PRIVILEGED_ROLE=true\."/,
  ],
  [
    "the database does not exist",
    "ALTER DATABASE :name RENAME TO :name_away",
    "ALTER DATABASE :name_away RENAME TO :name",
    /Create the database, or name another in the URL/,
  ],
  [
    "there are no tables",
    (_, database) => database.query("DROP OWNED BY CURRENT_USER"),
    (_, database) => migrate(database),
    migrating,
  ],
  [
    "half of the tables are there",
    (_, { query }) => query("ALTER TABLE earlyaccess_notices RENAME TO away"),
    (_, { query }) => query("ALTER TABLE away RENAME TO earlyaccess_notices"),
    migrating,
  ],
  ["Postgres is down", (wire) => wire.cut(), (wire) => wire.mend(), codes],
  ["Postgres is starting", (wire) => wire.refuse("57P03", "starting up"), (wire) => wire.mend(), codes],
  [
    "Postgres has no connection left",
    (wire) => wire.refuse("53300", "too many"),
    (wire) => wire.mend(),
    /raise max_connections/,
  ],
  ["Postgres hangs", (wire) => wire.stall(), (wire) => wire.mend(), codes],
  ["Postgres hangs after the login", (wire) => wire.hang(), (wire) => wire.mend(), codes],
];

/** Starts the site in the state, and mends it. Returns what a visitor, a prober and the operator see. */
async function observe(fault: Act, cure: Act) {
  const database = await createEmptyDatabase(); // With roles of its own.
  const { name, webUrl } = database;
  const { username: role, password } = new URL(webUrl);
  await migrate(database);
  const values: Record<string, string> = { name, role, password: pg.escapeLiteral(decodeURIComponent(password)) };
  const wire = await openWire(webUrl);
  const perform = async (act: Act) => {
    if (typeof act !== "string") return act(wire, database);
    return queryAs(
      superuserUrl("postgres"),
      act.replaceAll(/:(name|role|password)/g, (_, key: string) => values[key] ?? ""),
    );
  };
  await perform(fault);
  // With the owner's URL, too, which it must not use.
  const urls = { DATABASE_URL: wire.url(webUrl), DATABASE_OWNER_URL: database.ownerUrl };
  const site = await startSite({ env: { ...urls, NODE_ENV: "production" } });
  try {
    const page = await fetch(site.url);
    const refused = await postSignup(site, ada);
    const { status } = await fetch(`${site.url}/readyz`);
    const reasons = () => site.stdout().match(/.*"msg":"database not available.*/g) ?? [];
    await until("the log says why", () => reasons().length > 0);
    await perform(cure);
    await ready(site);
    return {
      statuses: [page.status, refused.status, status],
      retryAfter: refused.headers.get("Retry-After"),
      reasons: reasons(),
      log: site.stdout(),
      recovered: await signUp(site),
      exitCode: await site.stop(),
      stderr: site.stderr(),
    };
  } finally {
    site.process.kill("SIGKILL");
    await wire.cut();
  }
}

const observed = new Map<string, ReturnType<typeof observe>>();

beforeAll(() => {
  // Several at once: each waits five seconds for the next attempt.
  const inTurn = pLimit(6);
  for (const [state, fault, cure] of states) {
    const observation = inTurn(observe, fault, cure);
    observation.catch(() => undefined); // Its test fails.
    observed.set(state, observation);
  }
});

it.each(states)(
  "while %s, pages are served, sign-ups get 503, and the log names the cure",
  async (state, _fault, _cure, reason) => {
    const { log, ...seen } = (await observed.get(state)) ?? { log: "" };
    expect(seen).toEqual({
      statuses: [200, 503, 503],
      retryAfter: "15",
      reasons: [expect.stringMatching(reason)],
      recovered: 201,
      exitCode: 0,
      stderr: "",
    });
    // As docs/incident.md says.
    for (const message of ["request failed", "sign-ups cannot be stored"]) {
      expect(log).toContain(`"code":"DATABASE_NOT_ACCEPTED"},"msg":"${message}"`);
    }
  },
);
