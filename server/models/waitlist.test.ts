// The waitlist under a crowd: what arrives together is stored together, and nobody pays for another.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { entryOf } from "../../tests/support/entry.ts";
import { connect, type PrismaClient } from "../database/connect.ts";
import { errorFields } from "../database/error-fields.ts";
import { createWaitlist, WaitlistUnavailableError, type CheckedWaitlist } from "./waitlist.ts";

let database: TestDatabase;
let prisma: PrismaClient;

beforeAll(async () => {
  database = await createTestDatabase();
  prisma = connect(database.webUrl, pino({ enabled: false }));
});

afterAll(async () => {
  await prisma.$disconnect();
  await database.drop();
});

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const crowd = (size: number) => Array.from({ length: size }, (_, i) => entryOf(`ada${i}@example.com`));
const stored = () => database.query("SELECT name, email, job_title FROM earlyaccess ORDER BY email");

it("stores those who come at once with one statement", async () => {
  const send = vi.spyOn(prisma, "$executeRaw");
  const waitlist = createWaitlist(prisma);
  await Promise.all(crowd(100).map((entry) => waitlist.join(entry)));
  expect(send).toHaveBeenCalledTimes(1);
  expect(await stored()).toHaveLength(100);
  send.mockRestore();
});

it("keeps the first of several for one address, whatever the values hold", async () => {
  const waitlist = createWaitlist(prisma);
  const odd = `"\\{},'🚀é\u200F${"x".repeat(50)}`;
  await Promise.all([
    waitlist.join(entryOf("b@example.com", { name: odd, job_title: "NULL" })),
    waitlist.join(entryOf("a@example.com")),
    waitlist.join(entryOf("b@example.com", { name: "late" })),
  ]);
  expect(await stored()).toEqual([
    { name: "Ada", email: "a@example.com", job_title: null },
    { name: odd, email: "b@example.com", job_title: "NULL" },
  ]);
});

it("writes to the disk for a known address as well, as its speed would tell that it is known", async () => {
  const waitlist = createWaitlist(prisma);
  await waitlist.join(entryOf("ada@example.com"));
  const written = async () => {
    const [row] = await database.query(
      `SELECT sum((pg_stat_get_backend_wal(pid)).wal_records)::int AS records
       FROM pg_stat_activity WHERE application_name = 'perennial-web' AND datname = current_database()`,
    );
    return row?.records as number;
  };
  // Postgres reports what a connection wrote up to a second later, before its next statement.
  const report = async () => {
    await sleep(1_100);
    await prisma.$queryRaw`SELECT 1`;
  };
  await report();
  const before = await written();
  await waitlist.join(entryOf("ada@example.com"));
  await report();
  expect(await written()).toBeGreaterThan(before);
});

it("refuses alone the one whose values Postgres cannot take", async () => {
  const waitlist = createWaitlist(prisma);
  const tooLong = entryOf("long@example.com", { name: "x".repeat(101) });
  const results = await Promise.allSettled([...crowd(5), tooLong].map((entry) => waitlist.join(entry)));
  expect(results.map(({ status }) => status)).toEqual([...Array(5).fill("fulfilled"), "rejected"]);
  expect((results[5] as PromiseRejectedResult).reason).toBeInstanceOf(WaitlistUnavailableError);
  expect(await stored()).toHaveLength(5);
});

describe("an entry whose address another transaction holds", () => {
  let other: pg.Client;

  beforeEach(async () => {
    other = new pg.Client(database.ownerUrl);
    await other.connect();
    await other.query("BEGIN");
    await other.query(
      "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Eve', 'ada7@example.com', 'Engines')",
    );
  });

  afterEach(() => other.end());

  it("fails alone: the other 29 entries of its batch are stored", async () => {
    const waitlist = createWaitlist(prisma);
    const results = await Promise.allSettled(crowd(30).map((entry) => waitlist.join(entry)));
    const refused = results.flatMap((result, i) =>
      result.status === "rejected" ? [[i, result.reason as unknown]] : [],
    );
    expect(refused).toEqual([[7, expect.any(WaitlistUnavailableError)]]);
    expect(await stored()).toHaveLength(29);
  });

  it.each([
    ["ROLLBACK", "Ada"],
    ["COMMIT", "Eve"],
  ])("is stored after a %s of that transaction", async (end, name) => {
    const waitlist = createWaitlist(prisma);
    const joins = Promise.all(crowd(30).map((entry) => waitlist.join(entry)));
    await vi.waitFor(async () => expect(await stored()).not.toEqual([]), 5_000);
    await other.query(end);
    await joins;
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
    const waitlist = createWaitlist(prisma);
    await Promise.all(crowd(size).map((entry) => waitlist.join(entry)));
    expect(await stored()).toHaveLength(size);
  });
});

it("two processes with the same crowd in opposite order do not wait for each other for ever", async () => {
  const other = connect(database.webUrl, pino({ enabled: false }));
  const waitlists = [createWaitlist(prisma), createWaitlist(other)] as const;
  for (let round = 0; round < 10; round++) {
    await database.query("TRUNCATE earlyaccess");
    const entries = crowd(2_000);
    await Promise.all([
      ...entries.map((entry) => waitlists[0].join(entry)),
      ...entries.toReversed().map((entry) => waitlists[1].join(entry)),
    ]);
  }
  expect(await stored()).toHaveLength(2_000);
  await other.$disconnect();
});

it("refuses everybody where there is no database", async () => {
  const cut = connect("postgresql://web:secret@127.0.0.1:1/none", pino({ enabled: false }));
  const waitlist = createWaitlist(cut);
  const results = await Promise.allSettled(crowd(3).map((entry) => waitlist.join(entry)));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await cut.$disconnect();
});

describe("what tells whether entries can be stored", () => {
  const check = (waitlist: CheckedWaitlist) =>
    waitlist.check().then(
      () => "fine",
      (error: unknown) => errorFields(error).code,
    );

  it("stores nothing by itself", async () => {
    expect(await check(createWaitlist(prisma))).toBe("fine");
    expect(await stored()).toEqual([]);
  });

  it.each([
    ["read-only", "ALTER ROLE web SET default_transaction_read_only = on", "ALTER ROLE web RESET ALL", "25006"],
    ["without the right", "REVOKE INSERT ON earlyaccess FROM web", "GRANT INSERT ON earlyaccess TO web", "42501"],
  ])("sees a role that is %s before anybody signs up", async (_, change, restore, code) => {
    const run = (sql: string) => database.query(sql.replace("web", new URL(database.webUrl).username));
    await run(change);
    const anew = connect(database.webUrl, pino({ enabled: false })); // A role's settings are read with its login.
    expect(await check(createWaitlist(anew))).toBe(code);
    await anew.$disconnect();
    await run(restore);
  });

  it("sees a table that another session has locked", async () => {
    const other = new pg.Client(database.ownerUrl);
    await other.connect();
    await other.query("BEGIN; LOCK TABLE earlyaccess IN ACCESS EXCLUSIVE MODE");
    expect(await check(createWaitlist(prisma))).toBe("55P03");
    await other.end();
  });

  it("believes a sign-up that met what an empty one does not, such as a full disk, until one is stored", async () => {
    const waitlist = createWaitlist(prisma);
    await fillDisk();
    await expect(waitlist.join(entryOf("a@example.com"))).rejects.toBeInstanceOf(WaitlistUnavailableError);
    expect(await check(waitlist)).toBe("53100");
    await emptyDisk();
    expect(await check(waitlist)).toBe("53100");
    await waitlist.join(entryOf("a@example.com"));
    expect(await check(waitlist)).toBe("fine");
  });

  it("believes it for ten seconds, as nobody may come to try", async () => {
    const waitlist = createWaitlist(prisma);
    await fillDisk();
    await expect(waitlist.join(entryOf("a@example.com"))).rejects.toBeInstanceOf(WaitlistUnavailableError);
    await emptyDisk();
    const later = performance.now() + 10_001;
    const clock = vi.spyOn(performance, "now").mockReturnValue(later);
    expect(await check(waitlist)).toBe("fine");
    clock.mockRestore();
  });

  it("does not blame the database for what concerns one entry: its values, or a session that holds its address", async () => {
    const waitlist = createWaitlist(prisma);
    const other = new pg.Client(database.ownerUrl);
    await other.connect();
    await other.query("BEGIN");
    await other.query(
      "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Ada', 'a@example.com', 'Engines')",
    );
    const results = await Promise.allSettled([
      waitlist.join(entryOf("b@example.com", { name: "x".repeat(101) })),
      waitlist.join(entryOf("a@example.com")),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await check(waitlist)).toBe("fine");
    await other.end();
  });
});

/** What Postgres says where a table finds no room to grow. */
async function fillDisk() {
  await database.query(`CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$`);
  await database.query("CREATE TRIGGER full_disk BEFORE INSERT ON earlyaccess FOR EACH ROW EXECUTE FUNCTION no_room()");
}

const emptyDisk = () => database.query("DROP FUNCTION no_room CASCADE");
