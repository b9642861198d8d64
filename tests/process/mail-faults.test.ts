// A mail server that refuses, hangs or is down: no sign-up fails, no mail is lost, and nobody gets two a day.
import { expect, it, onTestFinished, vi } from "vitest";
import { until } from "../support/run.ts";
import { runWaitlist } from "../support/waitlist-fixture.ts";
import { createMailFixture } from "../support/worker.ts";
import { openMailServer, type MailServer } from "../support/mail-server.ts";

const fixture = createMailFixture();
const { query, signUp, startWorker, mailed, emptied, failed } = fixture;
const entries = () => query("SELECT mail_refusal, mailed_at IS NOT NULL AS mailed FROM earlyaccess");

const recipients = () => fixture.server.recipients;
const fail = (...args: Parameters<MailServer["fail"]>) => fixture.server.fail(...args);

const settings = () => ({
  ...fixture.settings(),
  DATABASE_URL: fixture.database.webUrl,
  WORKER_DATABASE_URL: fixture.database.workerUrl,
});
/** Returns what doctor says about unsent mails. */
const doctor = async () =>
  (await runWaitlist(fixture.database, ["doctor"], settings())).stdout.match(/^\w+ +Unsent mails: .*$/m)?.[0];

/** From the first call on, the clock stands still between calls. */
async function passMinute(): Promise<void> {
  await query("UPDATE graphile_worker._private_jobs SET run_at = run_at - interval '1 minute'");
  const now = Date.now() + 60_000;
  vi.spyOn(Date, "now").mockReturnValue(now);
  onTestFinished(() => void vi.restoreAllMocks());
}

/** Resolves when this number of jobs waits after a failure. */
const waiting = (count: number) =>
  until(`${count} jobs wait`, async () => {
    const jobs = await query("SELECT flags, locked_at FROM graphile_worker.jobs");
    return jobs.length === count && jobs.every(({ flags, locked_at }) => flags && !locked_at);
  });

const mailboxJobs = () =>
  query(`SELECT attempts, run_at - now() BETWEEN '29 minutes' AND '31 minutes' AS waits FROM graphile_worker.jobs
         WHERE locked_at IS NULL`);

it("a full mailbox waits by itself for half an hour, four days in all, and the mails of others go at once", async () => {
  fail("recipient", "452 4.2.2 Mailbox full", /^full@/);
  expect(await signUp("full@example.com")).toBe(201);
  await query("UPDATE earlyaccess SET mailed_at = '2026-01-01Z', mail_tokens = ARRAY[sha256('earlier')]");
  await startWorker();
  await until("it waits", async () => (await mailboxJobs())[0]?.waits === true);
  for (const name of ["ada", "grace"]) expect(await signUp(`${name}@example.com`)).toBe(201);
  await mailed(2);
  for (let attempt = 1; attempt <= 2; attempt++) {
    await fixture.hasten();
    await until("it is tried again", () => recipients().length === 3 + attempt);
    await until("it waits again", async () => (await mailboxJobs())[0]?.waits === true);
    await query("UPDATE graphile_worker._private_jobs SET created_at = created_at - interval '2 days'");
  }
  expect(await mailboxJobs()).toEqual([{ attempts: 1, waits: true }]); // With 25, it would be lost.
  await fixture.hasten();
  await emptied();
  // The earlier mail counts, and its link works, as before.
  const kept = "mailed_at = '2026-01-01Z' AND mail_tokens = ARRAY[sha256('earlier')]";
  expect(await query(`SELECT email, ${kept} AS kept FROM earlyaccess WHERE mail_refusal = '452 4.2.2'`)).toEqual([
    { email: "full@example.com", kept: true },
  ]);
  fail();
  expect(await signUp("full@example.com")).toBe(201);
  await mailed(3);
  expect(await query("SELECT FROM earlyaccess WHERE mail_refusal IS NOT NULL")).toEqual([]);
});

it("a full mailbox that is due while the mail server fails hides no failure from doctor, and ends none", async () => {
  fail("recipient", "552 5.2.2 Mailbox full", /^full@/);
  await startWorker();
  expect(await signUp("full@example.com")).toBe(201);
  await until("it waits", async () => (await mailboxJobs())[0]?.waits === true);
  await query("UPDATE graphile_worker._private_jobs SET created_at = created_at - interval '95 hours'");
  expect(await signUp("ada@example.com")).toBe(201);
  await mailed(1);
  await query("UPDATE earlyaccess SET mailed_at = mailed_at - interval '3 minutes'");
  fail("data", "451 4.3.0 Queue full");
  expect(await signUp("grace@example.com")).toBe(201);
  await until(
    "it failed",
    async () => (await query("SELECT FROM graphile_worker.jobs WHERE last_error ~ 'DATA'")).length === 1,
  );
  await fixture.hasten();
  const forServer = () => query("SELECT FROM graphile_worker.jobs WHERE flags ? 'mail-server' AND locked_at IS NULL");
  await until("both wait for the server", async () => (await forServer()).length === 2);
  expect(await doctor()).toMatch(
    /The mail server accepts none. Mail server error \(DATA\): 451 4.3.0 .* Mails that wait: 2;/,
  );
  await query("UPDATE graphile_worker._private_jobs SET created_at = created_at - interval '4 minutes'");
  expect(await doctor()).toMatch(/^ok /); // The server accepted a mail since.
  fail("recipient", "552 5.2.2 Mailbox full", /^full@/);
  await passMinute();
  await until("it waits again", async () => (await mailboxJobs()).some(({ waits }) => waits));
  expect(await query("SELECT FROM earlyaccess WHERE mailed_at IS NOT NULL")).toHaveLength(1);
  await passMinute();
  await until("the other one is sent", async () => (await query("SELECT FROM graphile_worker.jobs")).length === 1);
  expect(await query("SELECT FROM earlyaccess WHERE mailed_at IS NOT NULL")).toHaveLength(2);
});

it.each<Parameters<MailServer["fail"]>>([
  ["data", "554 Message rejected: Email address is not verified"], // Amazon SES in its sandbox.
  ["recipient", "450 4.2.0 Greylisted"],
])(
  "after a failure of the server at the step %s with “%s”, one mail a minute is tried, each time another",
  async (...reply) => {
    fail(...reply);
    await startWorker();
    for (let i = 0; i < 7; i++) expect(await signUp(`person${i}@example.com`)).toBe(201);
    await waiting(7);
    const tried = recipients().length;
    for (let minute = 1; minute <= 3; minute++) {
      await passMinute();
      await until("one more mail is tried", () => recipients().length > tried + minute - 1);
      await waiting(7);
      expect(new Set(recipients()).size).toBe(tried + minute);
    }
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 50_000);
    expect(await signUp("early@example.com")).toBe(201);
    await waiting(8);
    expect(recipients()).toHaveLength(tried + 3);
    expect(await entries()).toEqual(Array.from({ length: 8 }, () => ({ mail_refusal: null, mailed: false })));
    fail();
    await passMinute();
    await mailed(8);
    await emptied();
  },
);

it("a refused address is marked, and the same refusal without an enhanced code of three in a row is about the sender and marks nobody", async () => {
  const marked = async () => (await query("SELECT FROM earlyaccess WHERE mail_refusal = '550 to RCPT TO'")).length;
  const worker = await startWorker();
  const twice = ["550 Denied 4RxQ1", "550 Denied 7aTz2"];
  const refusals = [
    ...twice,
    "550 Unknown",
    ...twice,
    "accepted",
    ...Array<string>(3).fill("550 5.1.1 Unknown"),
    ...twice,
  ];
  for (const [i, reply] of refusals.entries()) {
    if (reply === "accepted") fail();
    else fail("recipient", reply);
    expect(await signUp(`person${i}@example.com`)).toBe(201);
    await until(`the server answered ${reply}`, () => recipients().length === i + 1);
    await emptied();
  }
  expect(await marked()).toBe(7);
  expect(worker.log()).toContain("(RCPT TO): 550 5.1.1 Unknown …");
  const refused = "SELECT FROM earlyaccess WHERE mail_refusal = '550 5.1.1' AND mailed_at IS NULL";
  expect(await query(refused)).toHaveLength(3);
  expect(await signUp("last@example.com")).toBe(201);
  await waiting(3);
  expect(await marked()).toBe(5);
  await passMinute();
  await until("one more refusal", () => recipients().length === 13);
  await waiting(3);
  expect(await marked()).toBe(5);
  await query("UPDATE graphile_worker._private_jobs SET created_at = created_at - interval '4 days'");
  for (let left = 2; left >= 0; left--) {
    await passMinute();
    await waiting(left); // Each is given up, and its mark stays.
  }
  expect(await query("SELECT FROM earlyaccess WHERE mail_refusal = '550'")).toHaveLength(3);
});

it("a mail is given up after four days; doctor says what the server said, and retry sends the mail", async () => {
  fail("data", "554 Message rejected: Email address is not verified: ada@example.com");
  const worker = await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  await waiting(1);
  expect(await doctor()).toBe(
    "warning  Unsent mails: The mail server accepts none. Mail server error (DATA): 554 Message rejected: Email address is not verified: … …. Mails that wait: 1; one a minute is tried.",
  );
  await worker.stop();
  const withoutTls = await startWorker({ SMTP_URL: fixture.server.url.replace("smtp:", "smtps:") });
  await query("UPDATE graphile_worker._private_jobs SET created_at = created_at - interval '4 days'");
  await passMinute();
  await emptied();
  expect(await entries()).toEqual([{ mail_refusal: "ERR_SSL_WRONG_VERSIO", mailed: false }]);
  await query("UPDATE earlyaccess SET created_at = created_at - interval '13 days'");
  expect(await doctor()).toBe(
    "warning  Unsent mails: People who were given up: 1, most with ERR_SSL_WRONG_VERSIO. When the cause is gone, try again with: waitlist retry",
  );
  // Two people of an import with refused addresses, and 99 more sign-ups: one of a hundred may have a server that refuses it for ever.
  await query(`SET earlyaccess.silent = 'on';
    INSERT INTO earlyaccess (id, name, email, company, created_at, imported, mail_refusal)
    SELECT gen_random_uuid(), 'B', i || '@example.com', 'C', now() - interval '13 days', i < 3, CASE WHEN i < 3 THEN '550 5.1.1' END
    FROM generate_series(1, 101) i`);
  const accepted = /^ok .*: People who were given up: 1, most with ERR_SSL_WRONG_VERSIO\./;
  expect(await doctor()).toMatch(accepted);
  await query("UPDATE earlyaccess SET created_at = created_at - interval '1 day'");
  expect(await doctor()).toMatch(accepted);
  // Earlier versions took these for refusals of the address.
  await query("UPDATE earlyaccess SET mail_refusal = '554 5.2.0' WHERE imported");
  expect(await doctor()).toContain("People who were given up: 3, most with 554 5.2.0.");
  fail();
  await withoutTls.stop();
  await startWorker();
  const { stdout } = await runWaitlist(fixture.database, ["retry"], settings());
  expect(stdout).toBe("Failed mails and webhooks that are tried again: 0. Mails queued: 3.\n");
  await emptied();
  expect(await doctor()).toMatch(/^ok /);
  const to = fixture.server.mails.map((mail) => mail.to);
  expect(to.toSorted()).toEqual(["1", "2", "ada", "ada"].map((name) => `${name}@example.com`));
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
  // The four days begin with the first failure.
  await query("UPDATE graphile_worker._private_jobs SET created_at = created_at - interval '5 days'");
  await startWorker();
  expect(await failed()).toBe("Mail server error: ECONNREFUSED");
  // graphile-worker makes these attempts within four days.
  expect(await fixture.database.query("SELECT max_attempts FROM graphile_worker.jobs")).toEqual([{ max_attempts: 25 }]);
  fixture.server = await openMailServer({ port });
  await passMinute();
  await mailed(1);
  await emptied();
  expect(await fixture.database.query("SELECT jobs FROM earlyaccess_mail_passes")).toEqual([{ jobs: 1 }]); // Not one an attempt.
});
