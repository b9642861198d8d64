// The built site on a database that takes no sign-ups, in each state that was met, and after the cure.
import pLimit from "p-limit";
import pg from "pg";
import { beforeAll, expect, it, vi } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { createEmptyDatabase, superuserUrl, type TestDatabase } from "../support/database.ts";
import { queryAs } from "../support/postgres.ts";
import { ada, postSignup, ready, signUp, startSite } from "../support/site.ts";
import { openWire } from "../support/tcp-proxy.ts";

type Wire = Awaited<ReturnType<typeof openWire>>;

/** SQL as a superuser, or an act on the database or the wire to it. */
type Act = string | ((wire: Wire, database: TestDatabase) => unknown);

/** What the operator does: the end of a reason, after Postgres' own words. */
const resetRole =
  "reset what the role has set, as an administrator of Postgres: ALTER ROLE :role RESET ALL; ALTER ROLE :role IN DATABASE :name RESET ALL.";
const reset = `If this server is the primary, ${resetRole}`;
const login =
  "Correct the URL, or as an administrator of Postgres: ALTER ROLE :role LOGIN VALID UNTIL 'infinity' PASSWORD 'that of the URL'.";
const migrating =
  "Migrate: docker compose run --rm --no-deps migrate, npm run migrate, or in the image node dist/server/migrate.js.";
const codes = "See docs/incident.md, Error codes.";
const connections =
  "End idle sessions, raise max_connections, or as an administrator of Postgres: ALTER ROLE :role CONNECTION LIMIT -1.";
const privileged =
  "The role of DATABASE_URL, :role, is a superuser or the owner of the waitlist: a compromised web process could read and delete everything. Name a role of its own in DATABASE_URL, for example perennial_web, and the owner in DATABASE_OWNER_URL; migrating creates the role.\nTo allow it all the same, set ALLOW_PRIVILEGED_ROLE=true.";

const states: [state: string, fault: Act, cure: Act, reason: string][] = [
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
    `${migrating} If the fault stays, ${resetRole}`,
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
    connections,
  ],
  [
    "the role owns the list",
    (_, { asSuperuser, name }) => asSuperuser(`ALTER TABLE earlyaccess OWNER TO ${name}_web`),
    async (_, database) => {
      await database.asSuperuser(`ALTER TABLE earlyaccess OWNER TO ${database.name}_owner`);
      await migrate(database);
    },
    privileged,
  ],
  ["the role is a superuser", "ALTER ROLE :role SUPERUSER", "ALTER ROLE :role NOSUPERUSER", privileged],
  [
    "the database does not exist",
    "ALTER DATABASE :name RENAME TO :name_away",
    "ALTER DATABASE :name_away RENAME TO :name",
    "Create the database, or name another in the URL: docs/postgres.md, Requirements.",
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
  ["Postgres has no connection left", (wire) => wire.refuse("53300", "too many"), (wire) => wire.mend(), connections],
  ["Postgres hangs", (wire) => wire.stall(), (wire) => wire.mend(), codes],
  ["Postgres hangs after the login", (wire) => wire.hang(), (wire) => wire.mend(), codes],
];

/** Starts the site in the state, and mends it. Returns what a visitor, a prober and the operator see. */
async function observe(fault: Act, cure: Act, reason: string) {
  const database = await createEmptyDatabase(); // With roles of its own.
  const { name, webUrl } = database;
  const { username: role, password } = new URL(webUrl);
  await migrate(database);
  const values: Record<string, string> = { name, role, password: pg.escapeLiteral(decodeURIComponent(password)) };
  const nameRoles = (text: string) => text.replaceAll(`"${role}"`, ":role").replaceAll(`"${name}"`, ":name");
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
    const readReason = () => {
      const line = site
        .stdout()
        .match(/.*"msg":"database not available.*/g)
        ?.at(-1);
      return line && nameRoles((JSON.parse(line) as { reason: string }).reason);
    };
    // The latest: on a busy machine, Postgres may take longer than the site waits for it.
    await vi.waitFor(() => expect(readReason()?.slice(-reason.length)).toBe(reason), 40_000);
    await perform(cure);
    await ready(site);
    return {
      statuses: [page.status, refused.status, status],
      retryAfter: refused.headers.get("Retry-After"),
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
  for (const [state, fault, cure, reason] of states) {
    const observation = inTurn(observe, fault, cure, reason);
    observation.catch(() => undefined); // Its test fails.
    observed.set(state, observation);
  }
});

it.each(states)("while %s, pages are served, sign-ups get 503, and the log names the cure", async (state) => {
  const { log = "", ...seen } = (await observed.get(state)) ?? {};
  expect(seen).toEqual({
    statuses: [200, 503, 503],
    retryAfter: "15",
    recovered: 201,
    exitCode: 0,
    stderr: "",
  });
  // As docs/incident.md says.
  for (const message of ["request failed", "sign-ups cannot be stored"]) {
    expect(log).toContain(`"code":"DATABASE_NOT_ACCEPTED"},"msg":"${message}"`);
  }
});
