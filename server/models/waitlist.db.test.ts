// The waitlist: batches of concurrent changes, their turns, errors and retries, and the readiness check.
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { pino } from "pino";
import { beforeEach, expect, it, type Mock, onTestFinished, vi } from "vitest";
import { createToken } from "./entry-tokens.ts";
import { errorFields, UnavailableError } from "../errors.ts";
import { createTestDatabase } from "../../tests/support/database.ts";
import { until } from "../../tests/support/run.ts";
import { insertEntries } from "../../tests/support/waitlist-fixture.ts";
import { connect, createPool, type Database } from "../database/pool.ts";
import { parseEntry, type WaitlistEntry } from "./waitlist-entry.ts";
import { createEntryLinks } from "./entry-links.ts";
import { createReadiness, createWaitlist, type OnStored, type Waitlist } from "./waitlist.ts";

const connectTo = (url: string) => connect(createPool(url), pino({ enabled: false }));

const database = await createTestDatabase();
const connection = connectTo(database.webUrl);

beforeEach(() => database.query("TRUNCATE earlyaccess; DROP FUNCTION IF EXISTS fail CASCADE"));

/** Returns a valid entry with the changes. */
function entryOf(email: string, changes: Partial<WaitlistEntry> = {}): WaitlistEntry {
  const parsed = parseEntry({ name: "Ada", email, company: "Engines" });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  return { ...parsed.entry, ...changes };
}

const people = (size: number) => Array.from({ length: size }, (_, i) => entryOf(`ada${i}@example.com`));
const stored = () => database.query("SELECT name, email, job_title FROM earlyaccess ORDER BY email");

const joinAll = (waitlist: Waitlist, entries: WaitlistEntry[]) =>
  Promise.allSettled(entries.map((entry) => waitlist.join(entry)));

/** Returns the position and the error of each rejected promise. */
const rejections = (results: PromiseSettledResult<void>[]) =>
  results.flatMap((result, i) => (result.status === "rejected" ? [[i, result.reason as unknown]] : []));

/** Resolves when the next statement begins; the very first does not count. */
function nextCall({ mock }: Mock<Database["execute"] | Database["query"]>): Promise<boolean> {
  const known = Math.max(mock.calls.length, 1);
  return until("the next statement begins", () => mock.calls.length > known);
}

/** Runs the SQL in a session of the owner, which keeps its locks. Returns a function that ends the session. */
async function hold(sql: string): Promise<() => Promise<void>> {
  const client = new pg.Client(database.ownerUrl);
  await client.connect();
  const release = () => client.end();
  onTestFinished(release);
  await client.query(sql);
  return release;
}

const holdTurn = () => hold("SELECT pg_advisory_lock('earlyaccess'::regclass::oid::bigint)");

/** Inserts the address in a transaction that does not end. */
const holdAddress = (email: string) =>
  hold(
    `BEGIN; INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Eve', '${email}', 'Engines')`,
  );

async function isTurnAwaited(): Promise<boolean> {
  const waits = "FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = 'earlyaccess'::regclass";
  return (await database.query(`SELECT ${waits}`)).length > 0;
}

it("one statement is in flight at a time, and entries that arrive meanwhile share the next ones, up to 200 each", async () => {
  const release = await holdTurn();
  const execute = vi.fn<Database["execute"]>(connection.execute);
  const waitlist = createWaitlist(execute);
  const first = waitlist.join(entryOf("first@example.com"));
  await until("the first waits", isTurnAwaited);
  const others = joinAll(waitlist, people(201));
  await setImmediate();
  expect(execute).toHaveBeenCalledTimes(1);
  await release();
  await Promise.all([first, others]);
  expect(execute).toHaveBeenCalledTimes(3);
  expect(await stored()).toHaveLength(202);
});

it("the first entry for an address wins within a batch, which is stored in the order of an import; special characters stay", async () => {
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
  const inserted = await database.query("SELECT email FROM earlyaccess ORDER BY ctid");
  expect(inserted.map(({ email }) => email)).toEqual(["a@example.com", "b@example.com"]);
});

const links = createEntryLinks(connection.query);
const forged = createToken().token;
const valid = createToken();

/** Ada, with a valid token of a mail. */
const addAda = () =>
  insertEntries(database, [{ name: "Ada", email: "ada@example.com", company: "Engines", mail_tokens: [valid.hash] }]);

it.each<[name: string, change: () => Promise<unknown>]>([
  ["a known address", () => createWaitlist(connection.execute).join(entryOf("ada@example.com"))],
  ["a new address", () => createWaitlist(connection.execute).join(entryOf("new@example.com"))],
  ["an empty batch", () => createWaitlist(connection.execute).check()],
  ["a forged token to confirm", () => links.confirm(forged)],
  ["a forged token to leave", () => links.leave(forged)],
  ["a valid token to confirm", () => links.confirm(valid.token)],
  ["a valid token to leave", () => links.leave(valid.token)],
])("%s causes a durable write, and takes the turn before any trigger: its time reveals nothing", async (_, change) => {
  await addAda();
  const written = async () => {
    await connection.execute("SELECT pg_stat_force_next_flush()::text");
    const [row] = await database.query(
      `SELECT sum((pg_stat_get_backend_wal(pid)).wal_records)::int AS records
       FROM pg_stat_activity WHERE application_name = 'perennial-web' AND datname = current_database()`,
    );
    return row?.records as number;
  };
  await change(); // A connection's first statement may only write what it prunes.
  const before = await written();
  await change();
  expect(await written()).toBeGreaterThan(before + 1); // A message and its commit.
  await database.query("TRUNCATE earlyaccess");
  await addAda();
  await onChanges(`
    PERFORM nextval('public.attempts');
    IF (SELECT source IN ('client', 'session') FROM pg_settings WHERE name = 'synchronous_commit') THEN RAISE 'not durable'; END IF;
    IF current_setting('lock_timeout') <> '60ms' THEN RAISE 'a held entry would delay its batch'; END IF;
    RETURN coalesce(NEW, OLD);`);
  const release = await holdTurn();
  const changed = change();
  await until("it waits", isTurnAwaited);
  const [{ is_called } = {}] = await database.query("SELECT is_called FROM attempts");
  await release();
  await changed;
  expect(is_called).toBe(false);
});

it("links of a locked entry are followed in their order, each once", async () => {
  await addAda();
  const release = await hold("BEGIN; SELECT FROM earlyaccess FOR UPDATE");
  const query = vi.fn<Database["query"]>(connection.query);
  const { leave, confirm } = createEntryLinks(query);
  const left = [leave(valid.token), leave(valid.token)];
  await nextCall(query);
  const confirmed = Promise.all([confirm(valid.token), confirm(valid.token)]);
  await nextCall(query);
  await release();
  await Promise.all(left);
  expect(await confirmed).toEqual([false, false]);
  expect(JSON.parse(query.mock.calls.at(-1)?.[1] as string)).toMatchObject([{ confirms: false }, { confirms: true }]);
});

it("a locked address delays no other, and each of its sign-ups is refused at its own deadline", async () => {
  const [endLonger, endShorter] = [await holdAddress("ada7@example.com"), await holdAddress("ada8@example.com")];
  const waitlist = createWaitlist(connection.execute);
  const results = joinAll(waitlist, people(200));
  const areStored = (count: number) => until(`${count} are stored`, async () => (await stored()).length === count);
  await areStored(198);
  await endShorter();
  await areStored(199);
  await sleep(1_000);
  const later = waitlist.join(entryOf("ada7@example.com", { name: "Later" }));
  expect(rejections(await results)).toEqual([[7, expect.any(UnavailableError)]]);
  await endLonger();
  await later;
  expect(await stored()).toContainEqual(expect.objectContaining({ name: "Later", email: "ada7@example.com" }));
});

it("sign-ups of a locked address are merged: the first without the honeypot is stored, and each is counted", async () => {
  const release = await holdAddress("a@example.com");
  const execute = vi.fn<Database["execute"]>(connection.execute);
  const onStored = vi.fn<OnStored>();
  const waitlist = createWaitlist(execute, { onStored });
  const bot = entryOf("a@example.com", { name: "Bot", suspected_spam: true });
  const joined = [joinAll(waitlist, [bot, { ...bot, name: "Later" }])];
  await nextCall(execute);
  expect(JSON.parse(execute.mock.lastCall?.[1] as string)).toMatchObject([{ name: "Bot" }]);
  joined.push(joinAll(waitlist, [entryOf("a@example.com"), entryOf("a@example.com", { name: "Later" }), bot]));
  await nextCall(execute);
  await release();
  expect(rejections((await Promise.all(joined)).flat())).toEqual([]);
  expect(await stored()).toEqual([{ name: "Ada", email: "a@example.com", job_title: null }]);
  for (const [, batch] of execute.mock.calls) expect(JSON.parse(batch as string)).toHaveLength(1);
  expect(onStored.mock.calls.map(([entries, inserted]) => [entries.length, inserted])).toEqual([[5, 1]]);
});

it("an entry whose turn does not come is refused after 4.5 s, with the error of its last attempt", async () => {
  await holdTurn();
  const refused = vi.fn<(error: UnavailableError) => void>();
  await createWaitlist(connection.execute).join(entryOf("late@example.com")).catch(refused);
  expect(refused).toHaveBeenCalledWith(expect.objectContaining({ retryAfterSeconds: 15 }));
  expect(errorFields(refused.mock.lastCall?.[0].cause).code).toBe("55P03");
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  createWaitlist(() => new Promise(() => undefined))
    .join(entryOf("hung@example.com"))
    .catch(refused);
  await vi.advanceTimersByTimeAsync(4_499);
  expect(refused).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(refused).toHaveBeenCalledTimes(2);
});

it.each([
  [1, "40P01"],
  [30, "40P01"],
  [30, "57014"],
])("a batch of %i is stored after a deadlock or a statement that took too long", async (size, code) => {
  // A sequence counts the attempts: a rollback does not reset it.
  await onChanges(`IF nextval('public.attempts') = 1 THEN RAISE 'once' USING ERRCODE = '${code}'; END IF; RETURN NEW;`);
  expect(rejections(await joinAll(createWaitlist(connection.execute), people(size)))).toEqual([]);
  expect(await stored()).toHaveLength(size);
});

const check = (waitlist: Waitlist) =>
  waitlist.check().then(
    () => "ready",
    (error: unknown) => errorFields(error).code,
  );

it("an entry that Postgres refuses fails alone in its batch, and the readiness check succeeds without an entry", async () => {
  const execute = vi.fn<Database["execute"]>(connection.execute);
  const waitlist = createWaitlist(execute);
  const [missing, tooLong] = [entryOf("b@c.co", { company: null }), entryOf("d@c.co", { name: "x".repeat(101) })];
  const results = await joinAll(waitlist, [missing, ...people(30), tooLong]);
  expect(rejections(results)).toEqual([0, 31].map((i) => [i, expect.any(UnavailableError)]));
  expect(execute).toHaveBeenCalledTimes(21); // For 32, 15, 15 and 2 entries, and for 17 alone.
  expect([await check(waitlist), (await stored()).length]).toEqual(["ready", 30]);
});

it("the readiness check fails if the database is read-only, as after a failover", async () => {
  const { username, pathname } = new URL(database.webUrl);
  const role = `ALTER ROLE ${username} IN DATABASE ${pathname.slice(1)}`; // All test databases have the same web role.
  await database.query(`${role} SET default_transaction_read_only = on`);
  const reconnected = connectTo(database.webUrl); // Postgres applies a role's settings at login.
  expect(await check(createWaitlist(reconnected.execute))).toBe("25006");
  await database.query(`${role} RESET ALL`);
});

it("the readiness check fails after a sign-up met a full disk, for 10 s or until one is stored", async () => {
  const waitlist = createWaitlist(connection.execute);
  await onChanges("RAISE 'could not extend file' USING ERRCODE = 'disk_full';");
  await expect(waitlist.join(entryOf("a@example.com"))).rejects.toBeInstanceOf(UnavailableError);
  await database.query("DROP FUNCTION fail CASCADE");
  expect(await check(waitlist)).toBe("53100");
  for (const [ms, result] of [
    [9_000, "53100"],
    [10_001, "ready"],
  ] as const) {
    vi.spyOn(performance, "now").mockReturnValueOnce(performance.now() + ms);
    expect(await check(waitlist)).toBe(result);
  }
  await waitlist.join(entryOf("a@example.com"));
  expect(await check(waitlist)).toBe("ready");
});

it("the readiness probe checks the database once for concurrent requests, and again later", async () => {
  const failing = vi.fn<() => Promise<void>>().mockRejectedValue(new Error("away"));
  const isReady = createReadiness(failing, pino({ enabled: false }));
  expect(new Set(await Promise.all(Array.from({ length: 100 }, isReady)))).toEqual(new Set([false]));
  expect(failing).toHaveBeenCalledTimes(1);
  await vi.waitFor(async () => {
    await isReady();
    expect(failing).toHaveBeenCalledTimes(2);
  });
});

/** Executes PL/pgSQL before each change of an entry. */
async function onChanges(statements: string): Promise<void> {
  await database.query(`CREATE SEQUENCE IF NOT EXISTS attempts; ALTER SEQUENCE attempts RESTART;
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN ${statements} END $$;
    CREATE TRIGGER fail BEFORE INSERT OR UPDATE OR DELETE ON earlyaccess FOR EACH ROW EXECUTE FUNCTION fail()`);
}
