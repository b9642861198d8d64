// The pace of mails: few are sent while nearly nobody confirms the latest ones.
import { expect, it } from "vitest";
import { until } from "../support/run.ts";
import { createMailFixture } from "../support/worker.ts";

const fixture = createMailFixture();
const { signUp, startWorker, mailed, emptied } = fixture;

/** Adds entries that were mailed one after the other, the latest so long ago. The earliest of them are confirmed. */
const addMailed = (mails: number, confirmed = 0, ago = "2 hours") =>
  fixture.database.query(
    `SET earlyaccess.silent = 'on';
     INSERT INTO earlyaccess (id, name, email, company, imported, mailed_at, confirmed_at)
     SELECT gen_random_uuid(), 'A', gen_random_uuid() || '@example.com', 'C', true,
       now() - interval '${ago}' - i * interval '1 second', CASE WHEN i > ${mails - confirmed} THEN now() END
     FROM generate_series(1, ${mails}) i`,
  );

async function signUpPeople(count: number): Promise<void> {
  for (let i = 0; i < count; i++) expect(await signUp(`person${performance.now()}@example.com`)).toBe(201);
}

async function expectAllSent(count: number): Promise<void> {
  await emptied();
  expect(fixture.server.mails).toHaveLength(count);
}

/** Resolves when so many mails were sent in all, and so many jobs wait with the reason. */
async function expectSettled(sent: number, waiting: number): Promise<void> {
  await until(`${sent} mails and ${waiting} jobs that failed`, async () => {
    const jobs = await fixture.database.query("SELECT last_error FROM graphile_worker.jobs WHERE locked_at IS NULL");
    const reason = /^The mail waits for confirmations of earlier ones: \d+ of the latest \d+ were confirmed$/;
    const isSettled = jobs.length === waiting && jobs.every(({ last_error }) => reason.test(String(last_error)));
    return isSettled && fixture.server.mails.length === sent;
  });
}

it.each<[reason: string, ...counts: Parameters<typeof addMailed>[]]>([
  ["if fewer than 40 are older than two hours", [39], [500, 0, "1 hour"]],
  ["if one in ten was confirmed", [40, 4]],
  ["if one in ten of the latest 100 was confirmed", [100, 10], [500, 0, "3 hours"]],
])("the worker sends every mail %s", async (_, ...counts) => {
  for (const count of counts) await addMailed(...count);
  await startWorker();
  await signUpPeople(8);
  await expectAllSent(8);
});

it("the worker sends five mails in 24 hours if fewer than one in ten was confirmed, and the others when there is room", async () => {
  await addMailed(100, 9, "8 days");
  await addMailed(3, 0, "23 hours");
  await startWorker();
  for (const sent of [1, 2]) {
    await signUpPeople(1);
    await mailed(sent);
  }
  await signUpPeople(6);
  await expectSettled(2, 6);
  const { query } = fixture.database;
  await query("UPDATE graphile_worker._private_jobs SET run_at = now() + interval '1 hour'");
  await expectSettled(2, 6);
  await query("UPDATE earlyaccess SET mailed_at = mailed_at - interval '2 hours' WHERE imported");
  for (const sent of [3, 4, 5]) {
    await query(
      "UPDATE graphile_worker._private_jobs SET run_at = now() WHERE id = (SELECT min(id) FROM graphile_worker.jobs)",
    );
    await expectSettled(sent, 8 - sent);
  }
  await query("UPDATE graphile_worker._private_jobs SET run_at = now(), last_error = NULL");
  await expectSettled(5, 3);
});

it("the worker sends two mails in 24 hours for each address of seven days that was confirmed", async () => {
  await addMailed(100, 9, "23 hours");
  await addMailed(42, 42, "6 days");
  await addMailed(10, 10, "8 days");
  await startWorker();
  for (const sent of [1, 2]) {
    await signUpPeople(1);
    await mailed(sent); // 102 with those of the last 24 hours.
  }
  await signUpPeople(1);
  await expectSettled(2, 1);
});

const latest = "SELECT id FROM earlyaccess WHERE imported ORDER BY mailed_at DESC";

it.each([
  ["people confirm", `UPDATE earlyaccess SET confirmed_at = now() WHERE id IN (${latest} LIMIT 10)`],
  ["the entries are erased", `DELETE FROM earlyaccess WHERE id IN (${latest} LIMIT 100)`],
])("the worker sends all mails again when %s", async (_, change) => {
  await addMailed(100);
  await addMailed(100, 100, "3 hours");
  await startWorker();
  await fixture.database.query(
    "UPDATE earlyaccess SET mailed_at = mailed_at - interval '8 days' WHERE confirmed_at < now()",
  );
  await signUpPeople(6);
  await expectSettled(0, 6);
  await fixture.database.query(change);
  await fixture.hasten();
  await expectAllSent(6);
});

it("MAIL_MIN_CONFIRMED=0 sends every mail", async () => {
  await addMailed(100);
  await startWorker({ MAIL_MIN_CONFIRMED: "0" });
  await signUpPeople(6);
  await expectAllSent(6);
});
