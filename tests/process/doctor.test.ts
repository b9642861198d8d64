// The command waitlist doctor.
import { writeFile } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { createEmptyDatabase, erasureKey } from "../support/database.ts";
import { certificate, openMailServer } from "../support/mail-server.ts";
import { runWorker } from "../support/site.ts";
import { until } from "../support/until.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { runBuiltWaitlist, runWaitlist } from "../support/waitlist.ts";

const { database, file, waitlist } = await createWaitlistFixture();
const mails = {
  MAIL_FROM: "hello@perennial.example",
  ERASURE_KEY: erasureKey,
  PUBLIC_URL: "https://perennial.example",
};

/** Returns the verdict on each thing that doctor names. */
function verdicts(stdout: string): Record<string, string> {
  const findings = stdout.matchAll(/^(ok|warning|problem) +([^:]+):/gm);
  return Object.fromEntries(Array.from(findings, ([, verdict = "", what = ""]) => [what, verdict]));
}

/** Returns the exit code and the verdict on each thing. */
async function judge(env: Record<string, string>, ...options: string[]) {
  const { code, stdout } = await waitlist(["doctor", ...options], env);
  return { code, ...verdicts(stdout) };
}

it("doctor finds nothing if all is well", async () => {
  const { code, stdout, stderr } = await waitlist(["doctor"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(new Set(Object.values(verdicts(stdout)))).toEqual(new Set(["ok"]));
});

it("doctor finds that the web role can read the list, https without a proxy, and an unavailable Redis", async () => {
  await database.query("GRANT SELECT (name) ON earlyaccess TO PUBLIC");
  const changes = { PUBLIC_URL: "https://perennial.example", REDIS_URL: "redis://:hunter2@127.0.0.1:1" };
  const { code, stdout, stderr } = await waitlist(["doctor"], changes);
  await database.query("REVOKE SELECT (name) ON earlyaccess FROM PUBLIC");
  expect([code, stderr]).toEqual([1, ""]);
  expect(stdout).toMatch(/^problem {2}Web role: .* has SELECT on entries/m);
  expect(stdout).toMatch(/^warning {2}Proxy: set TRUST_PROXY=1/m);
  expect(stdout).toMatch(/^warning {2}Privacy: .* set CONTROLLER and CONTACT_EMAIL/m);
  expect(stdout).toMatch(/^problem {2}Redis: cannot be used \(ECONNREFUSED\)/m);
  expect(stdout).not.toMatch(/hunter2|it's a long secret|it%27s/);
});

it("doctor finds a database that was not migrated, a password that is refused, and exchanged URLs", async () => {
  const empty = await createEmptyDatabase();
  const { code, stdout } = await runWaitlist(empty, ["doctor"]);
  expect([code, verdicts(stdout)]).toMatchObject([1, { DATABASE_URL: "problem", Migrations: "problem" }]);
  const wrong = Object.assign(new URL(database.webUrl), { password: "hunter2" }).href;
  expect(await judge({ DATABASE_URL: wrong })).toMatchObject({ code: 1, DATABASE_URL: "problem", Migrations: "ok" });
  const exchanged = { DATABASE_URL: database.ownerUrl, DATABASE_OWNER_URL: database.webUrl };
  expect(await judge(exchanged)).toMatchObject({ code: 1, Migrations: "problem", "Web role": "warning" });
});

it("doctor finds webhooks that are not queued, a worker that does not run, and jobs that fail", async () => {
  const wanted = { WEBHOOK_URL: "http://127.0.0.1:1/hook", WORKER_DATABASE_URL: database.workerUrl };
  expect(await judge(wanted)).toMatchObject({ code: 1, WORKER_DATABASE_URL: "problem", Webhooks: "problem" });
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["webhook"] } });
  expect(await judge(wanted)).toMatchObject({ code: 0, Worker: "warning", Webhooks: "ok" });
  expect(await judge(wanted, "--strict")).toMatchObject({ code: 1 });
  const worker = runWorker({ ...wanted, DATABASE_URL: database.webUrl });
  onTestFinished(() => void worker.process.kill("SIGKILL"));
  await until("the worker runs", () => worker.stdout().includes("worker started"), 50);
  expect(await judge(wanted, "--strict")).toMatchObject({ code: 0, Worker: "ok" });
  await worker.stop();
  await database.query(
    `SELECT graphile_worker.add_job('webhook', '{}');
     UPDATE graphile_worker._private_jobs SET created_at = now() - interval '1 hour', last_error = 'The receiver answered 500'`,
  );
  expect((await waitlist(["doctor"], wanted)).stdout).toMatch(
    /^warning {2}Webhooks: jobs that wait: 1, .* The latest error: The receiver answered 500\.$/m,
  );
  await database.query("UPDATE graphile_worker._private_jobs SET attempts = max_attempts");
  expect((await waitlist(["doctor"], wanted)).stdout).toMatch(/ given up after 25 attempts: 1\b/);
  expect(await judge({})).toMatchObject({ Webhooks: "warning" }); // Not wanted any more.
  await migrate({ ownerUrl: database.ownerUrl, webUrl: database.webUrl });
});

it("doctor finds mails and deletions that are late, but not a mail that waits until tomorrow", async () => {
  const env = { ...mails, WORKER_DATABASE_URL: database.workerUrl, RETENTION_MONTHS: "24" };
  await migrate({ ...database, erasureKey, worker: { url: database.workerUrl, tasks: ["mail", "purge"] } });
  await database.query(
    `SELECT graphile_worker.add_job(task, '{}', run_at => now() + interval '1 day') FROM unnest('{mail,purge}'::text[]) task;
     UPDATE graphile_worker._private_jobs SET created_at = now() - interval '1 hour'`,
  );
  expect(await judge(env)).toMatchObject({ code: 0, "Confirmation mails": "ok", "Deletion of old entries": "ok" });
  await database.query("UPDATE graphile_worker._private_jobs SET run_at = now()");
  expect(await judge(env)).toMatchObject({ "Confirmation mails": "warning", "Deletion of old entries": "warning" });
});

it("doctor finds a wrong and a missing ERASURE_KEY", async () => {
  await migrate({ ...database, erasureKey });
  for (const env of [{}, { ERASURE_KEY: "another-key-of-32-characters-here" }]) {
    const { code, stdout } = await waitlist(["doctor"], env);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^problem .*ERASURE_KEY is not /m)]);
  }
});

it("doctor finds a last backup that is older than two days", async () => {
  const add = (age: string) =>
    database.query(`INSERT INTO earlyaccess_backups (finished_at, entries) VALUES (now() - interval '${age}', 7)`);
  await add("50 hours");
  expect(await judge({})).toMatchObject({ Backup: "warning" });
  await add("47 hours");
  expect(await judge({})).toMatchObject({ Backup: "ok" });
});

it("doctor logs into the mail server, and prints no password", async () => {
  const authority = file("ca.pem");
  await writeFile(authority, certificate);
  const examine = async (url: string) => {
    // Node reads the authority's file at its start.
    const env = { ...mails, SMTP_URL: url, NODE_EXTRA_CA_CERTS: authority };
    const { stdout, stderr } = await runBuiltWaitlist(database, ["doctor"], env);
    expect(stderr).toBe("");
    expect(stdout).not.toMatch(/hunter2|correct horse|correct%20horse/);
    return /^\w+ +Mail server: .*$/m.exec(stdout)?.[0];
  };
  const login = { user: "ada", password: "correct horse" };
  const server = await openMailServer({ encryption: "STARTTLS", login });
  expect(await examine(server.url)).toBe("ok       Mail server: accepts connections");
  const wrong = Object.assign(new URL(server.url), { password: "hunter2" }).href;
  expect(await examine(wrong)).toMatch(/^problem .*Mail server error: 535 to AUTH PLAIN\. Mails wait/);
  await server.close();
  expect(await examine(server.url)).toMatch(/^problem .*Mail server error: ECONNREFUSED\. Mails wait/);
});
