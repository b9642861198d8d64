// What waitlist doctor says about mails: confirmations, a test mail, and the mail server.
import { expect, it, onTestFinished } from "vitest";
import { confirmationMail, privacyPage } from "../../client/shared/content.ts";
import { migrate } from "../../server/database/migrate.ts";
import { openMailServer, parseMail } from "../support/mail-server.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { mailSettings } from "../support/worker.ts";

const { database, waitlist } = await createWaitlistFixture();
const mails = { ...mailSettings, PUBLIC_URL: "https://www.perennial.example" };

const confirmedOf = (count: number) => `4 of the latest ${count} mails that are older than two hours were confirmed`;

it.each<[what: string, sent: number, changes: Record<string, string>, finding: string]>([
  ["says how many of the latest mails were confirmed", 624, {}, `ok       Confirmations: ${confirmedOf(100)}`],
  [
    "counts the jobs that wait for confirmations",
    625,
    {},
    `warning  Confirmations: ${confirmedOf(100)}. Mails wait for confirmations. Jobs that wait or were given up for this: 2. Look at the entries with stats and export. Erase those that bots typed. If people typed them, the mails may lie in spam folders: see docs/mail.md.`,
  ],
  [
    "counts of the mails before UNCONFIRMED_DAYS only those that were confirmed",
    624,
    { UNCONFIRMED_DAYS: "7" },
    `ok       Confirmations: ${confirmedOf(99)}`,
  ],
])("doctor %s", async (_, sent, changes, finding) => {
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["mail"] } });
  await database.query(
    `TRUNCATE earlyaccess, earlyaccess_mail_passes;
     INSERT INTO earlyaccess (id, name, email, company, mailed_at, confirmed_at, imported)
     SELECT gen_random_uuid(), 'A', i || '@example.com', 'C', now() - i * interval '100 minutes',
       CASE WHEN i <= 5 THEN now() WHEN i > 101 THEN now() - interval '20 days' END, true
     FROM generate_series(160, 1, -1) i;
     INSERT INTO earlyaccess_mail_passes (minute, jobs) VALUES (now(), ${sent});
     DELETE FROM graphile_worker._private_jobs;
     SELECT graphile_worker.add_job('mail', '{}', job_key => 'mail ' || i) FROM generate_series(1, 3) i;
     UPDATE graphile_worker._private_jobs SET attempts = 1, last_error = 'The mail waits for confirmations of earlier ones'
     WHERE id < (SELECT max(id) FROM graphile_worker.jobs)`,
  );
  const { stdout } = await waitlist(["doctor"], { ...mails, ...changes, WORKER_DATABASE_URL: database.workerUrl });
  expect(/^\w+ +Confirmations: .*$/m.exec(stdout)?.[0]).toBe(finding);
});

it("doctor --mail sends the confirmation mail with links of no entry, and prints the server's answer or refusal", async () => {
  const server = await openMailServer();
  onTestFinished(() => server.close());
  const send = (email: string, env = {}) => waitlist(["doctor", "--mail", email], { ...mails, ...env });
  const { code, stdout } = await send("Ada@example.com", { SMTP_URL: server.url, RETENTION_MONTHS: "24" });
  const { headers, text } = parseMail(server.mails[0]?.raw ?? "");
  expect([code, stdout]).toEqual([
    0,
    `ok       Test mail: the server answered 250 OK: message queued\n         Message-ID: ${headers["message-id"]}\n`,
  ]);
  expect(server.mails).toMatchObject([{ client: "www.perennial.example", to: "ada@example.com" }]);
  expect(headers.subject).toBe(`Test: ${confirmationMail.subject}`);
  expect(text).toMatch(/https:\/\/www\.perennial\.example\/confirm\?token=[\da-f]{32}\n/);
  expect(text).toContain(privacyPage.retention(24));
  expect(await database.query("SELECT FROM earlyaccess WHERE email = 'ada@example.com'")).toEqual([]);
  server.fail("recipient", "550 5.1.1 Nobody is ada@example.com");
  expect(await send("ada@example.com", { SMTP_URL: server.url })).toEqual({
    code: 1,
    stdout: expect.stringMatching(
      /^problem {2}Test mail: .*550 5\.1\.1 Nobody is ada@example\.com <ada@example\.com>\n$/,
    ) as string,
    stderr: "",
  });
  expect((await send("ada")).stderr).toBe('--mail is "ada" but must be an email address.\n');
  expect((await send("ada@example.com")).stderr).toBe("A test mail needs MAIL_FROM and SMTP_URL: see docs/mail.md.\n");
});

it.each<[fault: string, reply: string, scheme: string, words: string]>([
  ["blocks its host", "554 5.7.1 blocked using zen.spamhaus.org", "smtp:", "554 5.7.1 blocked using zen.spamhaus.org"],
  ["is busy", "421 4.7.0 too many connections", "smtp:", "421 4.7.0 too many connections"],
  ["never answers", "hang", "smtp:", "GREETING_TIMEOUT."],
  ["has no TLS from the start", "hang", "smtps:", "ERR_SSL_WRONG_VERSION_NUMBER."],
])("doctor prints the words of a mail server that %s", async (_, reply, scheme, words) => {
  const server = await openMailServer();
  onTestFinished(() => server.close());
  server.fail("connect", reply);
  const { stdout } = await waitlist(["doctor"], { ...mails, SMTP_URL: server.url.replace("smtp:", scheme) });
  const [finding] = /^problem {2}SMTP_URL: .*$/m.exec(stdout) ?? [];
  expect(finding).toContain(`SMTP_URL: Mail server error: ${words}`);
  expect(finding).toMatch(/\. Mails wait\. See docs\/mail\.md\.$/);
});
