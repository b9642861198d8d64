// The pace of mails: few are sent if few are confirmed, and their number tells nothing about an address.
import { expect, it } from "vitest";
import { until } from "../support/run.ts";
import { runWaitlist } from "../support/waitlist-fixture.ts";
import { createMailFixture } from "../support/worker.ts";

const fixture = createMailFixture();
const { query, signUp, startWorker } = fixture;

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
  ["600 jobs in 24 hours", { "23 hours": 597 }, { "25 hours": 9 }, 3],
  ["five more for each confirmed mail", { "23 hours": 632 }, { "23 hours": 7 }, 3],
  ["none that is older than 24 hours", { "25 hours": 9000 }, {}, 10],
  ["none of the future, which a clock that was set back leaves behind", { "-1 day": 9000 }, {}, 10],
])("the pace counts %s", async (_, passes, confirmed, sent) => {
  for (const [ago, count] of Object.entries(passes)) await addPasses(count, ago);
  for (const [ago, count] of Object.entries(confirmed)) await addConfirmed(count, ago);
  await signUpPeople(10);
  await startWorker();
  await expectSettled(sent, 10 - sent);
  expect(await query("SELECT FROM earlyaccess_mail_passes WHERE minute < now() - interval '24 hours'")).toEqual([]);
});

it("four jobs at once do not exceed the pace", async () => {
  await addPasses(594, "23 hours");
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

it("the jobs of erased entries use up none of the day", async () => {
  await addPasses(599, "23 hours");
  const bots = Array.from({ length: 5 }, (_, i) => `bot${i}@example.com`);
  for (const bot of bots) expect(await signUp(bot)).toBe(201);
  expect((await runWaitlist(fixture.database, ["erase", ...bots])).stdout).toMatch(/^Removed 5 entries\./);
  expect((await runWaitlist(fixture.database, ["retry"])).stdout).toContain("tried again: 0.");
  await signUpPeople(1);
  await startWorker();
  await expectSettled(1, 0);
});

it.each([
  ["has no entry", ""],
  ["is confirmed", "UPDATE earlyaccess SET confirmed_at = now() - interval '2 days'"],
  ["had a mail today", "UPDATE earlyaccess SET mailed_at = now() - interval '1 hour'"],
  ["was erased after the sign-up", "DELETE FROM earlyaccess"],
])("whoever fills the pace learns nothing about an address that %s", async (_, change) => {
  await addPasses(593, "23 hours");
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
    return jobs === 593 + 4;
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
