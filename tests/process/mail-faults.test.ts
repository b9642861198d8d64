// A mail server that refuses, hangs or is down: no sign-up fails, no mail is lost, and nobody gets two a day.
import { expect, it, onTestFinished, vi } from "vitest";
import { mailTimeouts } from "../../server/mail/mail-server.ts";
import { until } from "../support/run.ts";
import { runWaitlist } from "../support/waitlist-fixture.ts";
import { createMailFixture } from "../support/worker.ts";
import { openMailServer, type MailServer } from "../support/mail-server.ts";

const fixture = createMailFixture();
const { query, signUp, startWorker, mailed, emptied, failed } = fixture;

const recipients = () => fixture.server.recipients;
const fail = (...args: Parameters<MailServer["fail"]>) => fixture.server.fail(...args);

const settings = () => ({
  ...fixture.settings(),
  DATABASE_URL: fixture.database.webUrl,
  WORKER_DATABASE_URL: fixture.database.workerUrl,
});
/** Returns what doctor says about confirmation mails. */
const doctor = async () =>
  (await runWaitlist(fixture.database, ["doctor"], settings())).stdout.match(/^\w+ +Confirmation mails: .*$/m)?.[0];
const retry = async () => (await runWaitlist(fixture.database, ["retry"], settings())).stdout;

/** Lets a minute pass for the worker, and all jobs run. */
async function passMinute(): Promise<void> {
  const later = performance.now() + 60_000;
  const began = process.hrtime.bigint();
  vi.spyOn(performance, "now").mockImplementation(() => later + Number(process.hrtime.bigint() - began) / 1e6);
  onTestFinished(() => void vi.restoreAllMocks());
  await fixture.hasten();
}

/** Resolves when this number of jobs failed and waits. */
const waiting = (count: number) =>
  until(`${count} jobs wait`, async () => {
    const jobs = await query("SELECT last_error, locked_at FROM graphile_worker.jobs");
    return jobs.length === count && jobs.every(({ last_error, locked_at }) => last_error && !locked_at);
  });

/** Resolves when every job ran and is done, however often a mail has to wait for another one. */
const sent = () =>
  until("every mail is sent", async () => {
    await fixture.hasten();
    return (await query("SELECT FROM graphile_worker.jobs")).length === 0;
  });

/** Resolves when the jobs had their last attempt. */
async function lastAttempt(): Promise<void> {
  const others = "SELECT FROM graphile_worker.jobs WHERE attempts < 25 OR locked_at IS NOT NULL";
  await until("the last attempt", async () => (await query(others)).length === 0);
}

async function tryLast(): Promise<void> {
  await query("UPDATE graphile_worker._private_jobs SET attempts = 24, run_at = now()");
  await lastAttempt();
}

it("a full mailbox is tried 25 times by itself, then a sign-up mails it again; the mails of others go at once", async () => {
  fail("recipient", "452 4.2.2 Mailbox full", /^full@/);
  expect(await signUp("full@example.com")).toBe(201);
  await query("UPDATE earlyaccess SET mailed_at = '2026-01-01Z', mail_tokens = ARRAY[sha256('earlier')]");
  await startWorker();
  expect(await failed()).toMatch(/ \(RCPT TO\): 452 4\.2\.2 Mailbox …/);
  for (const name of ["ada", "grace"]) expect(await signUp(`${name}@example.com`)).toBe(201);
  await mailed(2);
  await tryLast();
  // The earlier mail counts, and its link works, as before.
  const kept = "mailed_at = '2026-01-01Z' AND mail_tokens = ARRAY[sha256('earlier')] AND mail_refusal IS NULL";
  expect(await query(`SELECT ${kept} AS kept FROM earlyaccess WHERE email = 'full@example.com'`)).toEqual([
    { kept: true },
  ]);
  expect(await doctor()).toMatch(
    /^ok +Confirmation mails: mailed 2, queued 0, given up 1, refused 0, missing 0\. Failed 1, most with: Mail server error \(RCPT TO\): 452 /,
  );
  fail();
  expect(await signUp("full@example.com")).toBe(201);
  await mailed(3);
  expect(await doctor()).toBe("ok       Confirmation mails: mailed 3, queued 0, given up 0, refused 0, missing 0");
  // The job that was given up would mail a second time.
  expect(await retry()).toBe("Failed mails and webhooks that are tried again: 0. Mails queued: 0.\n");
  await emptied();
  expect(fixture.server.mails).toHaveLength(3);
});

it("doctor warns of three mails that were queued after the latest accepted one and fail for an hour, and of the first one", async () => {
  fail("recipient", "552 5.2.2 Mailbox full");
  await startWorker();
  for (const name of ["a", "b"]) expect(await signUp(`${name}@example.com`)).toBe(201);
  await waiting(2);
  expect(await doctor()).toMatch(
    /^warning .*: mailed 0, queued 2, .* Failed 2, most with: .* 552 5\.2\.2 .* waitlist retry$/,
  );
  fail();
  expect(await signUp("ada@example.com")).toBe(201);
  await mailed(1);
  fail("data", "451 4.3.0 Queue full");
  for (const name of ["c", "d", "e"]) expect(await signUp(`${name}@example.com`)).toBe(201);
  await waiting(5);
  const setAges = async (accepted: string, job: string) => {
    await query(`UPDATE earlyaccess SET mailed_at = now() - interval '${accepted}' WHERE email = 'ada@example.com'`);
    // Those of a and b may have been tried again meanwhile.
    await query(
      `UPDATE graphile_worker._private_jobs SET created_at = now() - CASE WHEN email IN ('a@example.com', 'b@example.com')
         THEN interval '1 day' ELSE interval '${job}' END
       FROM earlyaccess AS entry WHERE key = 'mail ' || entry.id`,
    );
    return doctor();
  };
  expect(await setAges("2 hours", "59 minutes")).toMatch(/^ok /);
  expect(await setAges("50 minutes", "61 minutes")).toMatch(/^ok /); // The server accepted a mail since.
  expect(await setAges("2 hours", "61 minutes")).toMatch(
    /^warning .*: mailed 1, queued 5, given up 0, refused 0, missing 0\. Failed 5, most with: Mail server error \(DATA\): 451 4\.3\.0 /,
  );
  await query(
    "DELETE FROM graphile_worker._private_jobs USING earlyaccess AS entry WHERE key = 'mail ' || entry.id AND email = 'e@example.com'",
  );
  await query("DELETE FROM earlyaccess WHERE email = 'e@example.com'");
  expect(await doctor()).toMatch(/^ok .*: mailed 1, queued 4, /);
  await query("UPDATE graphile_worker._private_jobs SET run_at = now() - interval '61 minutes', locked_at = now()");
  expect(await doctor()).toMatch(/^warning .* A job is due for more than an hour: /);
});

it.each<Parameters<MailServer["fail"]>>([
  ["connect", "421 4.7.0 Too many connections"],
  ["sender", "550 5.7.1 Sender denied"],
  ["sender", "hang"],
  ["data", "554 Message rejected: Email address is not verified"], // Amazon SES in its sandbox.
])(
  "after a failure at the step %s with “%s”, one mail a minute is tried until the server accepts one",
  async (step, reply) => {
    fail(step, reply);
    vi.spyOn(mailTimeouts, "socketTimeout", "get").mockReturnValue(500);
    await startWorker();
    const tries = () => fixture.server.connections();
    for (let i = 0; i < 7; i++) expect(await signUp(`person${i}@example.com`)).toBe(201);
    await waiting(7);
    const tried = tries();
    for (let minute = 1; minute <= 3; minute++) {
      await passMinute();
      await until("one more mail is tried", () => tries() > tried + minute - 1);
      await waiting(7);
      expect(tries()).toBe(tried + minute);
    }
    expect(await signUp("early@example.com")).toBe(201);
    await waiting(8);
    await fixture.hasten();
    await waiting(8);
    expect(tries()).toBe(tried + 3);
    const entries = await query("SELECT FROM earlyaccess WHERE mail_refusal IS NOT NULL OR mailed_at IS NOT NULL");
    expect(entries).toEqual([]);
    fail();
    await passMinute();
    await sent();
    expect(fixture.server.accepted).toHaveLength(8);
  },
);

it("a reply to one address makes no other mail wait, and three refused addresses in a row make the others wait", async () => {
  fail("recipient", "450 4.2.0 Greylisted");
  await startWorker();
  const people = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}${i}@example.com`);
  for (const email of people(5, "grey")) expect(await signUp(email)).toBe(201);
  await waiting(5);
  // No later attempt of theirs counts among the refused ones.
  const later = () => query("UPDATE graphile_worker._private_jobs SET run_at = now() + interval '1 hour'");
  await later();
  expect(new Set(recipients()).size).toBe(5);
  fail("recipient", "550 Denied");
  const tried = recipients().length;
  for (const email of people(2, "denied")) expect(await signUp(email)).toBe(201);
  await waiting(7);
  await later();
  fail();
  expect(await signUp("ada@example.com")).toBe(201);
  await mailed(1);
  fail("recipient", "550 Denied");
  for (const email of people(4, "late")) {
    expect(await signUp(email)).toBe(201);
    await until(
      "it was tried, or waits",
      async () =>
        (await query("SELECT FROM graphile_worker.jobs WHERE attempts = 0 OR locked_at IS NOT NULL")).length === 0,
    );
  }
  await waiting(11);
  expect(recipients().slice(tried)).not.toContain("late3@example.com");
  fail();
  await passMinute();
  await sent();
  expect(fixture.server.accepted).toHaveLength(12);
});

it("a refusal with an enhanced code that names the address is recorded at once, a bare one after 25 attempts", async () => {
  const worker = await startWorker();
  for (const [i, reply] of ["550 5.1.1 Unknown", "550 5.1.1 Unknown", "550 5.1.1 Unknown", "550 Unknown"].entries()) {
    fail("recipient", reply);
    expect(await signUp(`person${i}@example.com`)).toBe(201);
    await until(`the server answered ${reply}`, () => recipients().length === i + 1);
  }
  expect(await failed()).toContain("(RCPT TO): 550 Unknown …");
  expect(worker.log()).toContain("(RCPT TO): 550 5.1.1 Unknown …");
  const refusals = async () =>
    (await query("SELECT mail_refusal FROM earlyaccess WHERE mailed_at IS NULL ORDER BY email")).map(
      (row) => row.mail_refusal,
    );
  expect(await refusals()).toEqual(["550 5.1.1", "550 5.1.1", "550 5.1.1", null]);
  await tryLast();
  await emptied();
  expect(await refusals()).toEqual(["550 5.1.1", "550 5.1.1", "550 5.1.1", "550 to RCPT TO"]);
  expect(await doctor()).toBe("ok       Confirmation mails: mailed 0, queued 0, given up 0, refused 4, missing 0");
  fail();
  expect(await retry()).toBe("Failed mails and webhooks that are tried again: 0. Mails queued: 0.\n");
  expect(await signUp("person3@example.com")).toBe(201);
  await emptied();
  expect(fixture.server.accepted).toEqual([]);
});

it("a refusal of the sender marks nobody, also in the last attempt", async () => {
  fail("recipient", "550 Denied");
  await startWorker();
  for (let i = 0; i < 3; i++) expect(await signUp(`person${i}@example.com`)).toBe(201);
  await waiting(3);
  const tried = recipients().length;
  await query("UPDATE graphile_worker._private_jobs SET attempts = 24, run_at = now() + interval '1 hour'");
  await passMinute();
  await lastAttempt();
  expect(recipients()).toHaveLength(tried + 1);
  expect(await query("SELECT FROM earlyaccess WHERE mail_refusal IS NULL")).toHaveLength(3);
  fail();
  await passMinute();
  await retry();
  await sent();
  expect(fixture.server.accepted).toHaveLength(3);
});

it("a mail is given up after 25 attempts; doctor says what the server said, and retry sends the mail", async () => {
  fail("data", "554 Message rejected: Email address is not verified: ada@example.com");
  await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  const words =
    "Failed 1, most with: Mail server error (DATA): 554 Message rejected: Email address is not verified: … …. When the cause is gone, try again with: waitlist retry";
  await waiting(1);
  expect(await doctor()).toBe(
    `warning  Confirmation mails: mailed 0, queued 1, given up 0, refused 0, missing 0. ${words}`,
  );
  await tryLast();
  expect(await doctor()).toBe(
    `warning  Confirmation mails: mailed 0, queued 0, given up 1, refused 0, missing 0. ${words}`,
  );
  expect(await query("SELECT mail_refusal, mailed_at, mail_tokens FROM earlyaccess")).toEqual([
    { mail_refusal: null, mailed_at: null, mail_tokens: [] },
  ]);
  fail();
  await passMinute();
  expect(await retry()).toBe("Failed mails and webhooks that are tried again: 1. Mails queued: 0.\n");
  await emptied();
  expect(await doctor()).toMatch(/^ok .*: mailed 1, queued 0, /);
  expect(fixture.server.accepted).toEqual(["ada@example.com"]);
});

it("a mail that the server does not confirm is not sent again on that day", async () => {
  fail("data", "drop");
  await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  expect(await failed()).toMatch(/^Mail server error: \w+$/);
  fail();
  await passMinute();
  await fixture.waitsUntilTomorrow();
  expect(fixture.server.mails).toHaveLength(1);
  await fixture.passDay();
  await mailed(2);
  await emptied();
});

it("a mail that waits for a mail server goes out when it is back, and counts once for the pace", async () => {
  const port = Number(new URL(fixture.server.url).port);
  await fixture.server.close();
  expect(await signUp("ada@example.com")).toBe(201);
  await startWorker();
  expect(await failed()).toBe("Mail server error: ECONNREFUSED");
  // graphile-worker makes these attempts within four days.
  expect(await query("SELECT max_attempts FROM graphile_worker.jobs")).toEqual([{ max_attempts: 25 }]);
  expect(await retry()).toMatch(/ tried again: 1\./);
  await until("another attempt", async () => (await query("SELECT FROM graphile_worker.jobs WHERE attempts > 0"))[0]);
  fixture.server = await openMailServer({ port });
  await passMinute();
  await sent();
  expect(fixture.server.accepted).toEqual(["ada@example.com"]);
  expect(await query("SELECT jobs FROM earlyaccess_mail_passes")).toEqual([{ jobs: 1 }]); // Not one an attempt.
});

it("a clock that is set back an hour while the mail server fails holds up no mail", async () => {
  fail("data", "451 4.3.0 Queue full");
  await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  await waiting(1);
  const { now } = Date;
  vi.spyOn(Date, "now").mockImplementation(() => now() + 60_000 - 3_600_000);
  fail();
  await passMinute();
  await mailed(2);
  await emptied();
});
