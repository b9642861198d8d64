// The waitlist: batches of concurrent sign-ups, their errors and retries, and the readiness check.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { noDatabase } from "../../tests/support/app.ts";
import { entryOf } from "../../tests/support/entry.ts";
import { connect, createPool, type Database } from "../database/connect.ts";
import { errorFields } from "../logger.ts";
import type { WaitlistEntry } from "./waitlist-entry.ts";
import { createWaitlist, WaitlistUnavailableError, type CheckedWaitlist } from "./waitlist.ts";

const connectTo = (url: string) => connect(createPool(url), pino({ enabled: false }));

let database: TestDatabase;
let connection: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  connection = connectTo(database.webUrl);
});

afterAll(async () => {
  await connection.close();
  await database.drop();
});

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const people = (size: number) => Array.from({ length: size }, (_, i) => entryOf(`ada${i}@example.com`));
const stored = () => database.query("SELECT name, email, job_title FROM earlyaccess ORDER BY email");

const joinAll = (waitlist: CheckedWaitlist, entries: WaitlistEntry[]) =>
  Promise.allSettled(entries.map((entry) => waitlist.join(entry)));

/** Returns the position and the error of each rejected promise. */
const rejections = (results: PromiseSettledResult<void>[]) =>
  results.flatMap((result, i) => (result.status === "rejected" ? [[i, result.reason as unknown]] : []));

/** Opens a transaction of the owner; closing the client rolls it back. */
async function beginAsOwner(...statements: string[]): Promise<pg.Client> {
  const client = new pg.Client(database.ownerUrl);
  await client.connect();
  for (const statement of ["BEGIN", ...statements]) await client.query(statement);
  return client;
}

const insertEve = (email: string) =>
  `INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Eve', '${email}', 'Engines')`;

it("concurrent entries are stored with one statement, and wait for the disk with another one", async () => {
  const execute = vi.fn<Database["execute"]>(connection.execute);
  await joinAll(createWaitlist(execute), people(100));
  expect(execute).toHaveBeenCalledTimes(2);
  expect(await stored()).toHaveLength(100);
});

it("no sign-up reads the whole table, although the connection's first one met an empty table", async () => {
  await database.query("VACUUM ANALYZE earlyaccess");
  const client = new pg.Client(database.webUrl);
  await client.connect();
  const insert = "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Ada', $1, 'Engines')";
  for (let i = 0; i < 50; i++) await client.query(insert, [`ada${i}@example.com`]);
  await client.query("BEGIN");
  await client.query(insert, ["eve@example.com"]);
  const { rows } = await client.query(
    "SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'earlyaccess'",
  );
  expect(rows).toEqual([{ seq_tup_read: "0" }]);
  await client.end();
});

it("the first entry for an address wins within a batch, with special characters unchanged", async () => {
  const odd = `"\\{},'🚀é\u200F${"x".repeat(50)}`;
  const results = await joinAll(createWaitlist(connection.execute), [
    entryOf("b@example.com", { name: odd, job_title: "NULL" }),
    entryOf("a@example.com"),
    entryOf("b@example.com", { name: "late" }),
  ]);
  expect(rejections(results)).toEqual([]);
  expect(await stored()).toEqual([
    { name: "Ada", email: "a@example.com", job_title: null },
    { name: odd, email: "b@example.com", job_title: "NULL" },
  ]);
});

it("a known address causes a write too, so that the response time does not reveal it", async () => {
  const waitlist = createWaitlist(connection.execute);
  await waitlist.join(entryOf("ada@example.com"));
  const written = async () => {
    const [row] = await database.query(
      `SELECT sum((pg_stat_get_backend_wal(pid)).wal_records)::int AS records
       FROM pg_stat_activity WHERE application_name = 'perennial-web' AND datname = current_database()`,
    );
    return row?.records as number;
  };
  // Postgres reports the writes of a connection up to one second later, before its next statement.
  const report = async () => {
    await sleep(1_100);
    await connection.execute("SELECT 1");
  };
  await report();
  const before = await written();
  await waitlist.join(entryOf("ada@example.com"));
  await report();
  expect(await written()).toBeGreaterThan(before);
});

it("an entry that Postgres refuses fails alone in its batch", async () => {
  const tooLong = entryOf("long@example.com", { name: "x".repeat(101) });
  const results = await joinAll(createWaitlist(connection.execute), [...people(5), tooLong]);
  expect(rejections(results)).toEqual([[5, expect.any(WaitlistUnavailableError)]]);
  expect(await stored()).toHaveLength(5);
});

describe("an entry whose address another transaction has inserted", () => {
  let other: pg.Client;

  beforeEach(async () => {
    other = await beginAsOwner(insertEve("ada7@example.com"));
  });

  afterEach(() => other.end());

  it("fails alone in its batch if the transaction stays open", async () => {
    const results = await joinAll(createWaitlist(connection.execute), people(30));
    expect(rejections(results)).toEqual([[7, expect.any(WaitlistUnavailableError)]]);
    expect(await stored()).toHaveLength(29);
  });

  it.each([
    ["ROLLBACK", "Ada"],
    ["COMMIT", "Eve"],
  ])("succeeds after %s, and the row has the name %s", async (end, name) => {
    const joins = joinAll(createWaitlist(connection.execute), people(30));
    await vi.waitFor(async () => expect(await stored()).not.toEqual([]), 5_000);
    await other.query(end);
    expect(rejections(await joins)).toEqual([]);
    const entries = await stored();
    expect(entries).toHaveLength(30);
    expect(entries).toContainEqual({ name, email: "ada7@example.com", job_title: null });
  });
});

describe.each(["57014", "55P03", "40P01"])("after the error %s", (code) => {
  beforeAll(async () => {
    // A sequence counts the attempts: a rollback does not reset it.
    await database.query("CREATE SEQUENCE attempts");
    await database.query(`CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        IF nextval('attempts') = 1 THEN RAISE 'once' USING ERRCODE = '${code}'; END IF;
        RETURN NEW;
      END $$`);
    await database.query("CREATE TRIGGER once BEFORE INSERT ON earlyaccess FOR EACH ROW EXECUTE FUNCTION fail_once()");
  });

  beforeEach(() => database.query("ALTER SEQUENCE attempts RESTART"));

  afterAll(async () => {
    await database.query("DROP FUNCTION fail_once CASCADE");
    await database.query("DROP SEQUENCE attempts");
  });

  it.each([1, 30])("a batch of %i is retried and stored", async (size) => {
    expect(rejections(await joinAll(createWaitlist(connection.execute), people(size)))).toEqual([]);
    expect(await stored()).toHaveLength(size);
  });
});

it("two processes do not deadlock on the same addresses in opposite order", async () => {
  const other = connectTo(database.webUrl);
  const executes = [vi.fn<Database["execute"]>(connection.execute), vi.fn<Database["execute"]>(other.execute)] as const;
  const waitlists = [createWaitlist(executes[0]), createWaitlist(executes[1])] as const;
  for (let round = 0; round < 10; round++) {
    await database.query("TRUNCATE earlyaccess");
    const entries = people(500);
    const results = await Promise.all([joinAll(waitlists[0], entries), joinAll(waitlists[1], entries.toReversed())]);
    expect(rejections(results.flat())).toEqual([]);
  }
  expect(await stored()).toHaveLength(500);
  // After a deadlock, each entry would be stored on its own.
  expect(executes.map(({ mock }) => mock.calls.length)).toEqual([20, 20]);
  await other.close();
});

it("every entry of a batch is rejected if the database is unreachable", async () => {
  const cut = connectTo(noDatabase);
  expect(rejections(await joinAll(createWaitlist(cut.execute), people(3)))).toHaveLength(3);
  await cut.close();
});

describe("the readiness check", () => {
  const check = (waitlist: CheckedWaitlist) =>
    waitlist.check().then(
      () => "ready",
      (error: unknown) => errorFields(error).code,
    );

  it("stores nothing", async () => {
    expect(await check(createWaitlist(connection.execute))).toBe("ready");
    expect(await stored()).toEqual([]);
  });

  it.each([
    [
      "is read-only",
      "ALTER ROLE web IN DATABASE here SET default_transaction_read_only = on",
      "ALTER ROLE web IN DATABASE here RESET ALL",
      "25006",
    ],
    ["cannot insert", "REVOKE INSERT ON earlyaccess FROM web", "GRANT INSERT ON earlyaccess TO web", "42501"],
  ])("fails if the role %s", async (_, change, restore, code) => {
    const { username, pathname } = new URL(database.webUrl);
    // All test databases have the same web role.
    const run = (sql: string) => database.query(sql.replace("web", username).replace("here", pathname.slice(1)));
    await run(change);
    const reconnected = connectTo(database.webUrl); // Postgres applies a role's settings at login.
    expect(await check(createWaitlist(reconnected.execute))).toBe(code);
    await reconnected.close();
    await run(restore);
  });

  it("fails if another session has locked the table", async () => {
    const other = await beginAsOwner("LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE");
    expect(await check(createWaitlist(connection.execute))).toBe("55P03");
    await other.end();
  });

  it("fails after a sign-up met a full disk, until one is stored", async () => {
    const waitlist = createWaitlist(connection.execute);
    await joinWithFullDisk(waitlist);
    expect(await check(waitlist)).toBe("53100");
    await waitlist.join(entryOf("a@example.com"));
    expect(await check(waitlist)).toBe("ready");
  });

  it("succeeds after an error that concerns one entry: its values, or a lock on its address", async () => {
    const waitlist = createWaitlist(connection.execute);
    const other = await beginAsOwner(insertEve("a@example.com"));
    const tooLong = entryOf("b@example.com", { name: "x".repeat(101) });
    expect(rejections(await joinAll(waitlist, [tooLong, entryOf("a@example.com")]))).toHaveLength(2);
    expect(await check(waitlist)).toBe("ready");
    await other.end();
  });
});

/** Signs up while each INSERT fails with the error of a full disk. */
async function joinWithFullDisk(waitlist: CheckedWaitlist): Promise<void> {
  await database.query(`CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$`);
  await database.query("CREATE TRIGGER full_disk BEFORE INSERT ON earlyaccess FOR EACH ROW EXECUTE FUNCTION no_room()");
  await expect(waitlist.join(entryOf("a@example.com"))).rejects.toBeInstanceOf(WaitlistUnavailableError);
  await database.query("DROP FUNCTION no_room CASCADE");
}
