// The pace of mails: few are sent if few are confirmed, and their number tells nothing about an address.
import type { JobHelpers } from "graphile-worker";
import { expect, it } from "vitest";
import { createMailPace } from "../../server/models/list/mails.ts";
import { until } from "../support/run.ts";
import { createMailFixture } from "../support/worker.ts";

const fixture = createMailFixture();
const { signUp, startWorker } = fixture;
const query = (sql: string) => fixture.database.query(sql);

const addPasses = (jobs: number, ago: string) =>
  query(`INSERT INTO earlyaccess_mail_passes (minute, jobs) VALUES (now() - interval '${ago}', ${jobs})`);

const addConfirmed = (count: number, ago: string) =>
  query(
    `SET earlyaccess.silent = 'on';
     INSERT INTO earlyaccess (id, name, email, company, imported, confirmed_at)
     SELECT gen_random_uuid(), 'A', gen_random_uuid() || '@example.com', 'C', true, now() - interval '${ago}'
     FROM generate_series(1, ${count})`,
  );

async function signUpPeople(count: number): Promise<void> {
  for (let i = 0; i < count; i++) expect(await signUp(`person${performance.now()}@example.com`)).toBe(201);
}

/** Resolves when this number of mails was sent in all, and this number of jobs waits with the reason. */
async function expectSettled(sent: number, waiting: number): Promise<void> {
  await until(`${sent} mails and ${waiting} jobs that failed`, async () => {
    const jobs = await query("SELECT last_error FROM graphile_worker.jobs WHERE locked_at IS NULL");
    const reason = "The mail waits for confirmations of earlier ones";
    const isSettled = jobs.length === waiting && jobs.every(({ last_error }) => last_error === reason);
    return isSettled && fixture.server.mails.length === sent;
  });
}

/** Their number by their age. */
type Counts = Record<string, number>;

it.each<[limit: string, passes: Counts, confirmed: Counts, sent: number]>([
  ["220 unconfirmed ones in 2 hours", { "119 minutes": 217 }, { "3 hours": 13 }, 3],
  ["12 for each confirmed one in 2 hours", { "119 minutes": 252 }, { "119 minutes": 20 }, 8],
  ["550 unconfirmed ones in 24 hours", { "23 hours": 547 }, { "25 hours": 27 }, 3],
  ["4 for each confirmed one in 24 hours", { "23 hours": 687 }, { "23 hours": 138 }, 3],
  ["70 unconfirmed ones in 14 days", { "13 days": 63 }, {}, 7],
  ["20 for each confirmed one in 14 days", { "13 days": 77 }, { "13 days": 4 }, 7],
  ["five in 24 hours in any case", { "13 days": 3000, "23 hours": 2 }, {}, 3],
  ["none that is older than 14 days", { "15 days": 9000 }, {}, 10],
])("the pace counts %s", async (_, passes, confirmed, sent) => {
  for (const [ago, count] of Object.entries(passes)) await addPasses(count, ago);
  for (const [ago, count] of Object.entries(confirmed)) await addConfirmed(count, ago);
  await signUpPeople(10);
  await startWorker();
  await expectSettled(sent, 10 - sent);
});

it("four jobs at once do not exceed the pace", async () => {
  await addPasses(60, "13 days");
  await addPasses(4, "23 hours");
  await query(
    "INSERT INTO earlyaccess_mail_passes (minute) SELECT date_trunc('minute', now()) + i * interval '1 minute' FROM generate_series(0, 2) i",
  );
  await signUpPeople(8);
  // All four jobs wait for this transaction, and then continue at the same time.
  const transaction = query("BEGIN; UPDATE earlyaccess_mail_passes SET jobs = jobs; SELECT pg_sleep(3); COMMIT");
  await startWorker();
  await transaction;
  await expectSettled(3, 5);
});

it.each([
  ["has no entry", ""],
  ["is confirmed", "UPDATE earlyaccess SET confirmed_at = now() - interval '20 days'"],
  ["had a mail today", "UPDATE earlyaccess SET mailed_at = now() - interval '1 hour'"],
  ["was erased after the sign-up", "DELETE FROM earlyaccess"],
])("whoever fills the pace learns nothing about an address that %s", async (_, change) => {
  await addPasses(63, "13 days");
  const target = "target@example.com";
  if (change) {
    expect(await signUp(target)).toBe(201);
    await query("DELETE FROM graphile_worker._private_jobs");
    if (!change.startsWith("DELETE")) await query(change);
  }
  await signUpPeople(3);
  expect(await signUp(target)).toBe(201);
  if (change.startsWith("DELETE")) await query(`${change} WHERE email = '${target}'`);
  await startWorker();
  await until("the four jobs passed", async () => {
    const [{ jobs } = {}] = await query("SELECT sum(jobs)::int AS jobs FROM earlyaccess_mail_passes");
    return jobs === 63 + 4;
  });
  await signUpPeople(9);
  const own = () => fixture.server.mails.filter(({ to }) => to !== target).length;
  await until("six own mails", () => own() === 6);
  await fixture.hasten();
  await until("six jobs that were held", async () => {
    const held = await query("SELECT FROM graphile_worker.jobs WHERE last_error IS NOT NULL AND locked_at IS NULL");
    return held.length === 6;
  });
  expect(own()).toBe(6);
});

it("a job that failed for an hour leaves half of the room to new sign-ups", async () => {
  await addPasses(35, "13 days");
  await addPasses(5, "23 hours");
  await signUpPeople(1);
  await query("UPDATE graphile_worker._private_jobs SET attempts = 8");
  await startWorker();
  await expectSettled(0, 1);
  await signUpPeople(1);
  await expectSettled(1, 1);
});

it("jobs wait without a query while the pace has no room", async () => {
  let queries = 0;
  const pass = createMailPace(10);
  const helpers = { job: { attempts: 1 }, query: () => (queries++, Promise.resolve([{ rowCount: 0 }])) };
  for (let i = 0; i < 100; i++) await expect(pass(helpers as unknown as JobHelpers)).rejects.toThrow("waits for");
  expect(queries).toBe(1);
});

it("MAIL_MIN_CONFIRMED=20 makes half as much room for a confirmed mail, also for jobs that wait, and 0 sends every mail", async () => {
  await addPasses(80, "13 days");
  await addPasses(5, "23 hours");
  await addConfirmed(9, "13 days"); // 9 x 10 + 9 - 85 = 14
  await signUpPeople(30);
  for (const [minConfirmed, sent] of [
    ["20", 14],
    ["20", 25],
    ["0", 30],
  ] as const) {
    const worker = await startWorker({ MAIL_MIN_CONFIRMED: minConfirmed });
    await expectSettled(sent, 30 - sent);
    await worker.stop();
    await addConfirmed(1, "1 hour"); // Room for 11 more.
    await fixture.hasten();
  }
});
