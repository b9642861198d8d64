// The codes that deploy/prometheus-alerts.yml explains are those in the log: each test causes one fault of the database.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import request from "supertest";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { migrate } from "../server/database/migrate.ts";
import { projectRoot } from "../server/project-root.ts";
import { createTestApp } from "./support/app.ts";
import { entryOf } from "./support/entry.ts";
import { freePort } from "../server/http/listen.ts";
import { startPostgres, type Postgres } from "./support/postgres.ts";
import { openWire, type Wire } from "./support/tcp-proxy.ts";

interface Fault {
  name: string;
  codes: [signUp: string, readyz: string];
  /** The web role's connection, if it is not the usual one. */
  url?: () => string | Promise<string>;
  /** Sign up once before the fault, so that the pool has a connection. */
  connected?: boolean;
  begin?: () => unknown;
  end?: () => unknown;
}

let postgres: Postgres;
let wire: Wire;
let superuser: pg.Client;

beforeAll(async () => {
  postgres = await startPostgres();
  await migrate(postgres);
  wire = await openWire(postgres.webUrl);
  superuser = new pg.Client(changeUrl(postgres.superuserUrl, { pathname: new URL(postgres.webUrl).pathname }));
  await superuser.connect();
});

afterAll(async () => {
  await wire.cut();
  await postgres.release();
});

const changeUrl = (url: string, changes: Partial<URL>) => Object.assign(new URL(url), changes).href;
const sql = (begin: string, end: string) => ({ begin: () => superuser.query(begin), end: () => superuser.query(end) });
const stalledWire = { url: () => wire.url(postgres.webUrl), begin: () => wire.stall(), end: () => wire.mend() };

/** Each with the codes in the log: of a refused sign-up, and of /readyz after it. */
const faults: Fault[] = [
  {
    name: "nothing listens",
    codes: ["DatabaseNotReachable", "DatabaseNotReachable"],
    url: async () => changeUrl(postgres.webUrl, { port: String(await freePort()) }),
  },
  { name: "Postgres does not answer", codes: ["CONNECTION_LOST", "CONNECTION_LOST"], ...stalledWire },
  {
    name: "Postgres no longer answers",
    codes: ["QUERY_TIMEOUT", "CONNECTION_LOST"],
    connected: true,
    ...stalledWire,
  },
  {
    name: "the password is wrong",
    codes: ["28P01", "28P01"],
    url: () => changeUrl(postgres.webUrl, { password: "another" }),
  },
  {
    name: "the role may not insert",
    codes: ["42501", "42501"],
    ...sql("REVOKE INSERT ON earlyaccess FROM perennial_web", "GRANT INSERT ON earlyaccess TO perennial_web"),
  },
  {
    name: "the database is read-only",
    codes: ["25006", "25006"],
    ...sql(
      "ALTER ROLE perennial_web SET default_transaction_read_only = on",
      "ALTER ROLE perennial_web RESET default_transaction_read_only",
    ),
  },
  {
    name: "no connection is free",
    codes: ["53300", "53300"],
    ...sql("ALTER ROLE perennial_web CONNECTION LIMIT 0", "ALTER ROLE perennial_web CONNECTION LIMIT -1"),
  },
  {
    name: "the table is locked",
    codes: ["55P03", "55P03"],
    ...sql("BEGIN; LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE", "ROLLBACK"),
  },
  {
    // tests/reliability/full-disk.ts fills a real disk, which needs the right to mount one; Postgres reports it with this code.
    name: "the disk is full",
    codes: ["53100", "53100"],
    ...sql(
      `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'full' USING ERRCODE = 'disk_full'; END $$;
       CREATE TRIGGER no_room BEFORE INSERT ON earlyaccess FOR EACH ROW EXECUTE FUNCTION no_room()`,
      "DROP FUNCTION no_room CASCADE",
    ),
  },
  // Last, as Postgres is gone afterwards.
  { name: "Postgres is stopping", codes: ["57P03", "57P03"], begin: stopWhenAllHaveLeft, end: leavePostgres },
];

it.each(faults)("the log names the cause if $name", async ({ codes, url, connected, begin, end }) => {
  const site = await createTestApp((await url?.()) ?? postgres.webUrl);
  const signUp = () => request(site.app).post("/api/earlyaccess").send(entryOf("ada@example.com"));
  try {
    if (connected) await signUp().expect(201);
    await begin?.();
    await signUp().expect(503);
    await request(site.app).get("/readyz").expect(503);
    // /readyz answers before a slow probe has failed.
    const logOf = (message: string) => vi.waitFor(() => findLine(site.logged(), message), 5_000);
    expect(await logOf("request failed")).toMatchObject({ error: { code: codes[0] } });
    expect(await logOf("sign-ups cannot be stored")).toMatchObject({ error: { code: codes[1] } });
  } finally {
    await end?.();
    await site.close();
  }
});

it("the alert explains these codes and no others", async () => {
  const rules = await readFile(join(projectRoot, "deploy/prometheus-alerts.yml"), "utf8");
  const [, text = ""] = /alert: PerennialNotReady\n.*?description: >-\n(.*?)\n\n/s.exec(rules) ?? [];
  expect(text).toContain('"sign-ups cannot be stored"');
  const explained = text.match(/\b(?:\d[A-Z\d]{4}|[A-Z]+_[A-Z]+|E[A-Z]+|Database[A-Z]\w+)\b/g);
  expect(new Set(explained)).toEqual(new Set(faults.flatMap(({ codes }) => codes)));
});

/** The first log line with the message. */
function findLine(log: string, message: string): unknown {
  const line = log.split("\n").find((one) => one.includes(`"msg":"${message}"`));
  if (!line) throw new Error(`No line "${message}" in the log:\n${log}`);
  return JSON.parse(line);
}

const postmasterFile = () => readFile(join(postgres.directory, "data/postmaster.pid"), "utf8");

/** A smart shutdown: Postgres refuses new connections, and stops once the open ones have ended. */
async function stopWhenAllHaveLeft(): Promise<void> {
  process.kill(Number((await postmasterFile()).split("\n")[0]), "SIGTERM");
}

async function leavePostgres(): Promise<void> {
  await superuser.end();
  await postgres.stop();
  await vi.waitFor(() => expect(postmasterFile()).rejects.toThrow("ENOENT"), 10_000);
}
