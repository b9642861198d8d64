// What the command waitlist doctor says of the worker: mails, their server, and the deletion of old entries.
import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { certificate } from "../support/certificate.ts";
import { openMailServer } from "../support/mail-server.ts";
import { verdicts } from "../support/waitlist.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file, waitlist } = createWaitlistFixture();
const key = "a-key-of-32-characters-for-tests";
const mails = { MAIL_FROM: "hello@perennial.example", ERASURE_KEY: key, PUBLIC_URL: "https://perennial.example" };
const worker = () => ({ WORKER_DATABASE_URL: database.workerUrl, RETENTION_MONTHS: "24" });

it("finds mails that are not queued, that wait, and a deletion that fails", async () => {
  const none = await waitlist(["doctor"], { ...mails, ...worker() });
  expect(none.code).toBe(1);
  expect(verdicts(none.stdout)).toMatchObject({ "Confirmation mails": "problem" });
  await migrate({ ...database, erasureKey: key, worker: { url: database.workerUrl, tasks: ["mail", "purge"] } });
  const fine = await waitlist(["doctor"], { ...mails, ...worker() });
  expect([fine.code, fine.stderr]).toEqual([0, ""]);
  const noJobs = { "Confirmation mails": "ok", "Deletion of old entries": "ok" };
  expect(verdicts(fine.stdout)).toMatchObject({ Worker: "warning", ...noJobs });
  await database.query(
    `SET earlyaccess.silent = 'on';
     INSERT INTO earlyaccess (id, name, email, company, mailed_at)
       VALUES (gen_random_uuid(), 'Ada', 'ada@example.com', 'Engines', '2026-01-31 10:00Z');
     SELECT graphile_worker.add_job(task, '{}', run_at => now() + interval '1 day') FROM unnest('{mail,purge}'::text[]) task;
     UPDATE graphile_worker._private_jobs SET created_at = now() - interval '1 hour'`,
  );
  const tomorrow = await waitlist(["doctor"], { ...mails, ...worker() });
  expect(tomorrow.stdout).toMatch(
    /^ok {7}Confirmation mails: jobs that wait: 1, .*; the latest was sent at 2026-01-31 /m,
  );
  await database.query("UPDATE graphile_worker._private_jobs SET run_at = now()");
  const late = { "Confirmation mails": "warning", "Deletion of old entries": "warning" };
  expect(verdicts((await waitlist(["doctor"], { ...mails, ...worker() })).stdout)).toMatchObject(late);
  expect((await waitlist(["doctor"], { ERASURE_KEY: key })).stdout).toMatch(
    /^warning {2}Confirmation mails: .* not configured here/m,
  );
});

it("logs into the mail server, and prints no password", async () => {
  const authority = file("ca.pem");
  await writeFile(authority, certificate);
  const examine = async (url: string) => {
    const { stdout, stderr } = await waitlist(["doctor"], { ...mails, SMTP_URL: url, NODE_EXTRA_CA_CERTS: authority });
    expect(stderr).toBe("");
    expect(stdout).not.toMatch(/hunter2|correct horse|correct%20horse/);
    return /^\w+ +Mail server: .*$/m.exec(stdout)?.[0];
  };
  const server = await openMailServer({ encryption: "TLS", login: { user: "ada", password: "correct horse" } });
  expect(await examine(server.url)).toBe("ok       Mail server: accepts connections");
  const wrong = Object.assign(new URL(server.url), { password: "hunter2" }).href;
  expect(await examine(wrong)).toMatch(/^problem .*Mail server error: 535 to AUTH PLAIN\. Mails wait/);
  await server.close();
  expect(await examine(server.url)).toMatch(/^problem .*Mail server error: ECONNREFUSED\. Mails wait/);
});
