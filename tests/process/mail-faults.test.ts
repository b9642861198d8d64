// A mail server that refuses, hangs or is down: no sign-up fails, no mail is lost, and nobody gets two a day.
import { expect, it, onTestFinished, vi } from "vitest";
import { until } from "../support/run.ts";
import { runWaitlist } from "../support/waitlist-fixture.ts";
import { createMailFixture } from "../support/worker.ts";
import { openMailServer, type MailServer } from "../support/mail-server.ts";

const fixture = createMailFixture();
const { signUp, startWorker, mailed, emptied, failed } = fixture;
const query = (sql: string) => fixture.database.query(sql);
const entries = () => fixture.database.query("SELECT mail_refusal, mailed_at IS NOT NULL AS mailed FROM earlyaccess");

const recipients = () => fixture.server.recipients;
const fail = (...args: Parameters<MailServer["fail"]>) => fixture.server.fail(...args);

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

it("an address that the server refuses is recorded, and gets no other mail", async () => {
  fail("recipient", "550 5.1.1 Nobody is");
  const worker = await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  await until("the refusal is logged", () => worker.log().includes("(RCPT TO): 550 5.1.1 Nobody is …"));
  await emptied();
  expect(await entries()).toEqual([{ mail_refusal: "550 5.1.1", mailed: false }]);
  expect(recipients()).toHaveLength(1);
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
    expect(await entries()).toEqual(Array.from({ length: 7 }, () => ({ mail_refusal: null, mailed: false })));
    fail();
    await passMinute();
    await mailed(7);
    await emptied();
  },
);

it("the same refusal without an enhanced code of three addresses in a row is about the sender, and marks nobody", async () => {
  const marked = async () => (await query("SELECT FROM earlyaccess WHERE mail_refusal = '550 to RCPT TO'")).length;
  const refuse = async (name: string, refusals: number) => {
    expect(await signUp(`${name}@example.com`)).toBe(201);
    await until(`${refusals} refusals`, () => recipients().length === refusals);
    await emptied();
  };
  await startWorker();
  fail("recipient", "550 Denied 1");
  await refuse("one", 1);
  await refuse("two", 2);
  fail();
  await refuse("accepted", 3);
  fail("recipient", "550 Denied 2");
  await refuse("three", 4);
  fail("recipient", "550 Denied 3");
  await refuse("four", 5);
  expect(await marked()).toBe(4);
  expect(await signUp("five@example.com")).toBe(201);
  await waiting(3);
  expect(await marked()).toBe(2);
  await passMinute();
  await until("one more refusal", () => recipients().length === 7);
  await waiting(3);
  expect(await marked()).toBe(2);
  await query("UPDATE graphile_worker._private_jobs SET created_at = created_at - interval '4 days'");
  for (let left = 2; left >= 0; left--) {
    await passMinute();
    await waiting(left); // Each is given up, and its mark stays.
  }
  expect(await query("SELECT FROM earlyaccess WHERE mail_refusal = '550'")).toHaveLength(3);
});

it("a mail is given up after four days; doctor says what the server said, and retry sends the mail", async () => {
  const settings = {
    ...fixture.settings(),
    DATABASE_URL: fixture.database.webUrl,
    WORKER_DATABASE_URL: fixture.database.workerUrl,
  };
  const doctor = async () =>
    (await runWaitlist(fixture.database, ["doctor"], settings)).stdout.match(/^\w+ +Unsent mails: .*$/m)?.[0];
  fail("data", "554 Message rejected: Email address is not verified: ada@example.com");
  await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  await waiting(1);
  expect(await doctor()).toBe(
    "warning  Unsent mails: The mail server accepts none. Mail server error (DATA): 554 Message rejected: Email address is not verified: … …. Mails that wait: 1; one a minute is tried.",
  );
  await query("UPDATE graphile_worker._private_jobs SET created_at = created_at - interval '4 days'");
  await passMinute();
  await emptied();
  expect(await entries()).toEqual([{ mail_refusal: "554", mailed: false }]);
  await query(
    "INSERT INTO earlyaccess (id, name, email, company, mail_refusal, imported) VALUES (gen_random_uuid(), 'B', 'b@example.com', 'C', '550 5.1.1', true)",
  );
  expect(await doctor()).toBe(
    "warning  Unsent mails: People who were given up: 1, most with 554. When the cause is gone, try again with: waitlist retry",
  );
  await query("UPDATE earlyaccess SET created_at = created_at - interval '14 days'");
  expect(await doctor()).toMatch(/^ok .*: People who were given up: 1, most with 554\./); // Somebody's server may refuse it for ever.
  fail();
  const { stdout } = await runWaitlist(fixture.database, ["retry"], settings);
  expect(stdout).toBe("Failed mails and webhooks that are tried again: 0. Mails queued: 1.\n");
  await waiting(1);
  await passMinute();
  await emptied();
  expect(await doctor()).toMatch(/^ok /);
  expect(fixture.server.mails.map(({ to }) => to)).toEqual(Array.from({ length: 3 }, () => "ada@example.com"));
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
  await startWorker();
  expect(await signUp("ada@example.com")).toBe(201);
  expect(await failed()).toBe("Mail server error: ECONNREFUSED");
  // graphile-worker makes these attempts within four days.
  expect(await fixture.database.query("SELECT max_attempts FROM graphile_worker.jobs")).toEqual([{ max_attempts: 25 }]);
  fixture.server = await openMailServer({ port });
  await passMinute();
  await mailed(1);
  await emptied();
  expect(await fixture.database.query("SELECT jobs FROM earlyaccess_mail_passes")).toEqual([{ jobs: 1 }]); // Not one an attempt.
});
