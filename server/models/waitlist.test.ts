// The waitlist under a crowd: what arrives together is stored together, and nobody pays for another.
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { connect, type PrismaClient } from "../database/connect.ts";
import { createWaitlist, WaitlistUnavailableError } from "./waitlist.ts";
import type { WaitlistEntry } from "./waitlist-entry.ts";

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

const applicant = (email: string, changes: Partial<WaitlistEntry> = {}): WaitlistEntry => ({
  name: "Ada",
  email,
  company: "Engines",
  job_title: null,
  suspected_spam: false,
  disposable_email: false,
  ...changes,
});
const crowd = (size: number) => Array.from({ length: size }, (_, i) => applicant(`ada${i}@example.com`));
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
    waitlist.join(applicant("b@example.com", { name: odd, job_title: "NULL" })),
    waitlist.join(applicant("a@example.com")),
    waitlist.join(applicant("b@example.com", { name: "late" })),
  ]);
  expect(await stored()).toEqual([
    { name: "Ada", email: "a@example.com", job_title: null },
    { name: odd, email: "b@example.com", job_title: "NULL" },
  ]);
});

it("writes to the disk for a known address as well, as its speed would tell that it is known", async () => {
  const waitlist = createWaitlist(prisma);
  await waitlist.join(applicant("ada@example.com"));
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
  await waitlist.join(applicant("ada@example.com"));
  await report();
  expect(await written()).toBeGreaterThan(before);
});

it("refuses alone the one whose values Postgres cannot take", async () => {
  const waitlist = createWaitlist(prisma);
  const tooLong = applicant("long@example.com", { name: "x".repeat(101) });
  const results = await Promise.allSettled([...crowd(5), tooLong].map((entry) => waitlist.join(entry)));
  expect(results.map(({ status }) => status)).toEqual([...Array(5).fill("fulfilled"), "rejected"]);
  expect((results[5] as PromiseRejectedResult).reason).toBeInstanceOf(WaitlistUnavailableError);
  expect(await stored()).toHaveLength(5);
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
