// The waitlist: batches of concurrent changes, their errors and time, and the readiness check.
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { pino } from "pino";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { createToken } from "./entry-tokens.ts";
import { errorFields, UnavailableError } from "../errors.ts";
import { createTestDatabase } from "../../tests/support/database.ts";
import { insertEntries } from "../../tests/support/waitlist-fixture.ts";
import { until } from "../../tests/support/run.ts";
import { Prisma } from "../database/generated/client.ts";
import { connect, type Database } from "../database/site-database.ts";
import { parseEntry, type WaitlistEntry } from "./sign-up-rules.ts";
import { createEntryLinks } from "./entry-links.ts";
import { createReadiness, createWaitlist, type Waitlist } from "./waitlist.ts";
import { timeLimits } from "../config/time-limits.ts";

const connectTo = (url: string) => connect(url, pino({ enabled: false }));

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

const addAll = (waitlist: Waitlist, entries: WaitlistEntry[]) =>
  Promise.allSettled(entries.map((entry) => waitlist.add(entry)));

/** Returns the position and the error of each rejected promise. */
const rejections = (results: PromiseSettledResult<void>[]) =>
  results.flatMap((result, i) => (result.status === "rejected" ? [[i, result.reason as unknown]] : []));

/** Runs the SQL in a session of the owner, which keeps its locks. Returns a function that ends the session. */
async function hold(sql: string): Promise<() => Promise<void>> {
  const client = new pg.Client(database.ownerUrl);
  await client.connect();
  const release = () => client.end();
  onTestFinished(release);
  await client.query(sql);
  return release;
}

/** Inserts the address in a transaction that does not end. */
const holdAddress = (email: string) =>
  hold(
    `BEGIN; INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Eve', '${email}', 'Engines')`,
  );

/** Locks all entries in a transaction that does not end. */
const holdEntries = () => hold("BEGIN; SELECT FROM earlyaccess FOR UPDATE");

/** The refusal of a change that met a lock: not that of its deadline. */
const refusedForLock = expect.toSatisfy(
  (error: UnavailableError) => error.retryAfterSeconds === 15 && errorFields(error.cause).code === "55P03",
) as unknown;

it("one statement is in flight at a time, and entries that arrive meanwhile share the next ones, up to 200 each", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const execute = vi.fn<Database["execute"]>((statement) => held.then(() => connection.execute(statement)));
  const waitlist = createWaitlist(execute);
  const first = waitlist.add(entryOf("first@example.com"));
  await setImmediate();
  const others = addAll(waitlist, people(201));
  await setImmediate();
  expect(execute).toHaveBeenCalledTimes(1);
  release();
  await Promise.all([first, others]);
  expect(execute).toHaveBeenCalledTimes(3);
  expect(await stored()).toHaveLength(202);
});

it("the first entry for an address wins within a batch, which is stored in the order of an import; special characters stay", async () => {
  const odd = `"\\{},'🚀é\u200F${"x".repeat(50)}`;
  const results = await addAll(createWaitlist(connection.execute), [
    entryOf("a_b@example.com", { name: odd, job_title: "NULL" }),
    entryOf("a@example.com"),
    entryOf("a_b@example.com", { name: "late" }),
  ]);
  expect(rejections(results)).toEqual([]);
  expect(await stored()).toEqual([
    { name: "Ada", email: "a@example.com", job_title: null },
    { name: odd, email: "a_b@example.com", job_title: "NULL" },
  ]);
  const inserted = await database.query("SELECT email FROM earlyaccess ORDER BY ctid");
  expect(inserted.map(({ email }) => email)).toEqual(["a@example.com", "a_b@example.com"]); // "_" is before "@" in a dictionary.
});

const links = createEntryLinks(connection.query);
const forged = createToken().token;
const valid = createToken();

/** Ada, with a valid token of a mail. */
const addAda = () =>
  insertEntries(database, [{ name: "Ada", email: "ada@example.com", company: "Engines", mail_tokens: [valid.hash] }]);

it.each<[name: string, change: () => Promise<unknown>]>([
  ["a known address", () => createWaitlist(connection.execute).add(entryOf("ada@example.com"))],
  ["a new address", () => createWaitlist(connection.execute).add(entryOf("new@example.com"))],
  ["an empty batch", () => createWaitlist(connection.execute).check()],
  ["a forged token to confirm", () => links.confirm(forged)],
  ["a forged token to leave", () => links.leave(forged)],
  ["a valid token to confirm", () => links.confirm(valid.token)],
  ["a valid token to leave", () => links.leave(valid.token)],
])("%s causes a write, which waits for the disk: its time reveals nothing", async (_, change) => {
  await addAda();
  const written = async () => {
    await connection.execute(Prisma.sql`SELECT pg_stat_force_next_flush()::text`);
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
});

it.each<[name: string, change: () => Promise<unknown>]>([
  ["a sign-up", () => createWaitlist(connection.execute).add(entryOf("new@example.com"))],
  ["a link", () => links.leave(valid.token)],
  ["a sign-up that fails", () => createWaitlist(() => Promise.reject(new Error("down"))).add(entryOf("a@example.com"))],
])("%s takes at least 100 ms, and commits durably within a short time for locks", async (name, change) => {
  await addAda();
  await onChanges(`
    IF (SELECT source <> 'session' OR setting <> 'on' FROM pg_settings WHERE name = 'synchronous_commit') THEN RAISE 'not durable'; END IF;
    IF current_setting('lock_timeout') <> '60ms' THEN RAISE 'a held entry would delay its batch'; END IF;
    IF current_setting('statement_timeout') <> '1950ms' THEN RAISE 'it would outlive its client'; END IF;
    RETURN coalesce(NEW, OLD);`);
  const began = performance.now();
  const failed = await change().then(
    () => false,
    () => true,
  );
  expect(failed).toBe(name === "a sign-up that fails");
  expect(performance.now() - began).toBeGreaterThan(99);
});

it("a link of a locked entry is refused, and links of one entry in a batch are followed in their order", async () => {
  await addAda();
  const release = await holdEntries();
  await expect(links.leave(valid.token)).rejects.toEqual(refusedForLock);
  await release();
  const followed = [
    links.confirm(forged), // First and last: a batch is in the order of the hashes, which are random.
    links.confirm(valid.token),
    links.leave(valid.token),
    links.confirm(valid.token),
    links.confirm(forged),
  ];
  expect(await Promise.all(followed)).toEqual([false, true, undefined, false, false]);
});

it("a link that was refused while it waited leaves the results of its batch to the others", async () => {
  await addAda();
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const slow = createEntryLinks((statement) => held.then(() => connection.query(statement)));
  const first = slow.confirm(forged);
  await setImmediate();
  const refused = Promise.allSettled([first, slow.confirm(forged)]);
  await sleep(timeLimits.change / 2);
  const inTime = slow.confirm(valid.token);
  expect(await refused).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  release();
  expect(await inTime).toBe(true);
});

it("the links of a batch are followed in the order of their hashes: replicas could each hold what the other needs", async () => {
  const tokens = Array.from({ length: 9 }, () => createToken());
  const hashes = tokens.map(({ hash }) => hash);
  const entries = hashes.map((hash, i) => ({ ...entryOf(`${i}@example.com`), mail_tokens: [hash] }));
  await insertEntries(database, entries);
  await Promise.all(tokens.map(({ token }) => links.confirm(token)));
  const followed = await database.query("SELECT mail_tokens[1]::text AS hash FROM earlyaccess ORDER BY ctid");
  expect(followed.map(({ hash }) => hash)).toEqual(hashes.toSorted());
});

it("a locked address delays no other; its own sign-up is refused, and stored after the lock", async () => {
  const endLock = await holdAddress("ada7@example.com");
  const execute = vi.fn<Database["execute"]>(connection.execute);
  const waitlist = createWaitlist(execute);
  expect(rejections(await addAll(waitlist, people(200)))).toEqual([[7, refusedForLock]]);
  expect(execute).toHaveBeenCalledTimes(201); // For all, then for each alone.
  const working =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()";
  await until("Postgres gave up the refused sign-up", async () => (await database.query(working)).length === 0);
  const later = waitlist.add(entryOf("ada7@example.com", { name: "Later" }));
  await endLock();
  await later;
  expect(await stored()).toContainEqual(expect.objectContaining({ name: "Later", email: "ada7@example.com" }));
  expect(await stored()).toHaveLength(200);
});

it("sign-ups and links of held entries, 20 a second, are refused, and no others with them", async () => {
  await addAda();
  await holdEntries();
  await holdAddress("held@example.com");
  const waitlist = createWaitlist(connection.execute);
  const refused: Promise<unknown>[] = [];
  const others: Promise<unknown>[] = [];
  for (let round = 0; round < 60; round++) {
    for (const held of [waitlist.add(entryOf("held@example.com")), links.leave(valid.token)]) {
      refused.push(held.catch((error: unknown) => error));
    }
    others.push(...people(5).map(({ email }) => waitlist.add(entryOf(`${round}.${email}`))));
    others.push(...Array.from({ length: 5 }, () => links.confirm(forged)));
    await sleep(50);
  }
  expect((await Promise.allSettled(others)).filter(({ status }) => status === "rejected")).toEqual([]);
  expect(await Promise.all(refused)).toEqual(refused.map(() => refusedForLock));
});

it("of several sign-ups of an address in one batch, the first without the honeypot is stored", async () => {
  const bot = entryOf("a@example.com", { name: "Bot", suspected_spam: true });
  const batch = [
    bot,
    { ...bot, name: "Later" },
    entryOf("a@example.com"),
    entryOf("a@example.com", { name: "Late" }),
    bot,
  ];
  expect(rejections(await addAll(createWaitlist(connection.execute), batch))).toEqual([]);
  expect(await stored()).toEqual([{ name: "Ada", email: "a@example.com", job_title: null }]);
});

it("an entry that is not stored is refused after 4.5 s, and each of a batch that met another fault, at once", async () => {
  const refused = vi.fn<(error: UnavailableError) => void>();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  createWaitlist(() => new Promise(() => undefined))
    .add(entryOf("hung@example.com"))
    .catch(refused);
  await vi.advanceTimersByTimeAsync(4_499);
  await sleep(200); // timers/promises have real timers.
  expect(refused).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await setImmediate();
  expect(refused).toHaveBeenCalledWith(expect.objectContaining({ retryAfterSeconds: 15 }));
  const execute = vi.fn<Database["execute"]>().mockRejectedValue(Object.assign(new Error("full"), { code: "53100" }));
  expect(rejections(await addAll(createWaitlist(execute), people(30)))).toHaveLength(30);
  expect(execute).toHaveBeenCalledTimes(1);
});

it.each([
  [1, "40P01"],
  [30, "40P01"],
  [30, "57014"],
  [30, "40001"],
])("a batch of %i is stored after an error of one change, %s, such as a deadlock", async (size, code) => {
  // A sequence counts the attempts: a rollback does not reset it.
  await onChanges(`IF nextval('public.attempts') = 1 THEN RAISE 'once' USING ERRCODE = '${code}'; END IF; RETURN NEW;`);
  expect(rejections(await addAll(createWaitlist(connection.execute), people(size)))).toEqual([]);
  expect(await stored()).toHaveLength(size);
});

const check = (waitlist: Waitlist) =>
  waitlist.check().then(
    () => "ready",
    (error: unknown) => errorFields(error).code,
  );

it.each<[fault: string, changes: Partial<WaitlistEntry>]>([
  ["a missing value", { company: null }],
  ["a value that is too long", { name: "x".repeat(101) }],
])(
  "an entry that Postgres refuses for %s fails alone in its batch, and the readiness check succeeds without an entry",
  async (_, changes) => {
    const execute = vi.fn<Database["execute"]>(connection.execute);
    const waitlist = createWaitlist(execute);
    const results = await addAll(waitlist, [entryOf("b@c.co", changes), ...people(30)]);
    expect(rejections(results)).toEqual([[0, expect.any(UnavailableError)]]);
    expect(execute).toHaveBeenCalledTimes(32); // For all, then for each alone.
    expect([await check(waitlist), (await stored()).length]).toEqual(["ready", 30]);
  },
);

it("the readiness check fails if the database is read-only, as after a failover", async () => {
  const { username, pathname } = new URL(database.webUrl);
  const role = `ALTER ROLE ${username} IN DATABASE ${pathname.slice(1)}`; // All test databases have the same web role.
  await database.query(`${role} SET default_transaction_read_only = on`);
  const reconnected = connectTo(database.webUrl); // Postgres applies a role's settings at login.
  expect(await check(createWaitlist(reconnected.execute))).toBe("25006");
  await database.query(`${role} RESET ALL`);
});

it("the readiness probe checks the database once for concurrent requests, and again later, and logs changes only", async () => {
  let logged = "";
  const probed = vi.fn<() => Promise<void>>().mockResolvedValue(undefined);
  for (let i = 0; i < 2; i++) probed.mockRejectedValueOnce(new Error("away"));
  probed.mockReturnValueOnce(new Promise(() => undefined));
  const isReady = createReadiness(probed, pino({}, { write: (line: string) => void (logged += line) }));
  expect(new Set(await Promise.all(Array.from({ length: 100 }, isReady)))).toEqual(new Set([false]));
  expect(probed).toHaveBeenCalledTimes(1);
  await vi.waitFor(async () => {
    await isReady();
    expect(probed).toHaveBeenCalledTimes(5);
  }, 20_000);
  expect(logged.match(/cannot be stored|stored again/g)).toEqual(["cannot be stored", "stored again"]);
});

/** Executes PL/pgSQL before each change of an entry. */
async function onChanges(statements: string): Promise<void> {
  await database.query(`CREATE SEQUENCE IF NOT EXISTS attempts; ALTER SEQUENCE attempts RESTART;
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN ${statements} END $$;
    CREATE TRIGGER fail BEFORE INSERT OR UPDATE OR DELETE ON earlyaccess FOR EACH ROW EXECUTE FUNCTION fail()`);
}
