// The command waitlist doctor.
import { writeFile } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { workerLock } from "../../server/database/queue.ts";
import { createEmptyDatabase, createWebRole } from "../support/database.ts";
import { certificate, expiredCertificate, openMailServer, type MailServerOptions } from "../support/mail-server.ts";
import { withClient } from "../support/postgres.ts";
import { runBuiltWaitlist } from "../support/run.ts";
import { openWire } from "../support/tcp-proxy.ts";
import { createWaitlistFixture, runWaitlist } from "../support/waitlist-fixture.ts";
import { mailSettings, startWorkerProcess } from "../support/worker.ts";

const { database, file, waitlist, add: addEntry } = await createWaitlistFixture();

/** Returns the verdict on each thing that doctor names. */
function verdicts(stdout: string): Record<string, string> {
  const findings = stdout.matchAll(/^(ok|warning|problem) +([^:]+):/gm);
  return Object.fromEntries(Array.from(findings, ([, verdict = "", what = ""]) => [what, verdict]));
}

/** Returns the lines of doctor. */
const examine = async (env = {}) => (await waitlist(["doctor"], env)).stdout;

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

it("doctor says how many entries there are, and the date of the oldest", async () => {
  expect(await examine()).toContain("\nok       Entries: none\n");
  await addEntry("Old", "old@example.com", { created_at: "2026-01-31T12:00Z" });
  await addEntry("New", "new@example.com");
  expect(await examine()).toContain("\nok       Entries: 2, the oldest of 2026-01-31\n");
  await database.query("DELETE FROM earlyaccess");
});

it("doctor finds that the web role can read the list, https without a proxy, and a privacy page that names nobody", async () => {
  const https = { PUBLIC_URL: "https://perennial.example" };
  const named = { CONTROLLER: "Perennial Inc.", CONTACT_EMAIL: "privacy@perennial.example" };
  await database.query("GRANT SELECT (name) ON earlyaccess TO PUBLIC");
  const { code, stdout, stderr } = await waitlist(["doctor"], { ...https, CONTACT_EMAIL: named.CONTACT_EMAIL });
  await database.query("REVOKE SELECT (name) ON earlyaccess FROM PUBLIC");
  expect([code, stderr]).toEqual([0, ""]);
  const role = new URL(database.webUrl).username;
  for (const warning of [
    `Web role: The role of DATABASE_URL, "${role}", may read or change entries, or stop backups. Name a role in DATABASE_URL that does not exist yet, which migrating creates; if that one may, too, see docs/postgres.md, Roles.`,
    "Proxy: TRUST_PROXY is 0, so all visitors share the limit of their proxy. See docs/deploy.md, Hosts.",
    "Privacy: the page /privacy does not say who is responsible: set CONTROLLER and CONTACT_EMAIL.",
  ]) {
    expect(stdout.split("\n")).toContain(`warning  ${warning}`);
  }
  expect(stdout).not.toMatch(/it's a long secret|it%27s/);
  const production = { NODE_ENV: "production", CONTROLLER: named.CONTROLLER };
  expect(await judge(production)).toMatchObject({ Privacy: "warning", PUBLIC_URL: "warning" });
  expect((await examine(production)).split("\n")).toContain(
    "warning  PUBLIC_URL: it is not set, so links to the site name http://localhost.",
  );
  const all = await judge({ ...production, ...named, ...https, TRUST_PROXY: "1" });
  expect(Object.values(all)).not.toContain("warning");
});

it("doctor finds that the web role may not store a sign-up, a notice or a page view", async () => {
  const [{ role } = {}] = await database.query("SELECT quote_ident($1) AS role", [new URL(database.webUrl).username]);
  for (const right of [
    "INSERT (company) ON earlyaccess",
    "INSERT (text) ON earlyaccess_notices",
    "EXECUTE ON FUNCTION earlyaccess_confirm(bytea)",
    "EXECUTE ON FUNCTION earlyaccess_leave(bytea)",
    "EXECUTE ON FUNCTION earlyaccess_count_views(date, text, int)",
  ]) {
    await database.query(`REVOKE ${right} FROM ${String(role)}`);
    const { code, stdout } = await waitlist(["doctor"]);
    await database.query(`GRANT ${right} TO ${String(role)}`);
    const problems = stdout.split("\n").filter((line) => !line.startsWith("ok "));
    const denied =
      /^problem {2}DATABASE_URL: permission denied for \w+ earlyaccess\w* \(42501\)\. Migrate: docker compose/;
    expect([code, problems], right).toEqual([1, [expect.stringMatching(denied), ""]]);
  }
});

it("doctor finds a locked table, and continues", async () => {
  await withClient(database.ownerUrl, async (client) => {
    await client.query("BEGIN; LOCK earlyaccess");
    const { code, stdout, stderr } = await waitlist(["doctor"]);
    expect([code, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/^problem {2}DATABASE_URL: canceling statement due to lock timeout \(55P03\)\. See docs/m);
    expect(verdicts(stdout)).toMatchObject({ Migrations: "ok", Backup: "ok" });
  });
});

it("doctor finds a database that was not migrated, a password that is refused, and exchanged URLs", async () => {
  const empty = await createEmptyDatabase();
  await empty.asSuperuser(createWebRole(empty));
  const { code, stdout } = await runWaitlist(empty, ["doctor"]);
  expect([code, verdicts(stdout)]).toMatchObject([1, { DATABASE_URL: "problem", Migrations: "problem" }]);
  expect(stdout).toMatch(/^problem {2}DATABASE_URL: relation .* does not exist \(42P01\)\. Migrate: /m);
  for (const older of ["SELECT", "CREATE TABLE earlyaccess ()"]) {
    await empty.query(older);
    expect((await runWaitlist(empty, ["stats"])).stderr).toMatch(/^The database is not up to date\. Migrate: /);
  }
  const nowhere = { DATABASE_OWNER_URL: "postgresql://owner:hunter2@127.0.0.1:1/x" };
  expect(await judge(nowhere)).toMatchObject({ code: 1, Settings: "ok", Database: "problem" });
  const wrong = Object.assign(new URL(database.webUrl), { password: "hunter2" }).href;
  expect(await judge({ DATABASE_URL: wrong })).toMatchObject({ code: 1, DATABASE_URL: "problem", Migrations: "ok" });
  const { host, username } = new URL(database.webUrl);
  const cure = `Postgres at ${host} refuses the connection: password authentication failed for user "${username}". Correct the URL, or as an administrator of Postgres: ALTER ROLE "${username}" LOGIN VALID UNTIL 'infinity' PASSWORD 'that of the URL'.`;
  const refused = (await examine({ DATABASE_URL: wrong })).match(/^problem .*/gm);
  expect(refused).toEqual([`problem  DATABASE_URL: ${cure}`, `problem  Web role: ${cure}`]);
  expect(await judge({ DATABASE_ADMIN_URL: wrong })).toMatchObject({ code: 1, DATABASE_ADMIN_URL: "problem" });
  const exchanged = { DATABASE_URL: database.ownerUrl, DATABASE_OWNER_URL: database.webUrl };
  expect(await judge(exchanged)).toMatchObject({ code: 1, Migrations: "problem", "Web role": "warning" });
});

it("doctor examines the role that a pooler logs in instead of the one in DATABASE_URL", async () => {
  const { username } = new URL(database.webUrl);
  const superuser = username.replace("web", "map"); // Of the same length, so that the message keeps its length.
  await database.asSuperuser(`CREATE ROLE ${superuser} SUPERUSER LOGIN PASSWORD 'it''s a long secret'`);
  const pooler = await openWire(database.webUrl, (sent) =>
    Buffer.from(sent.toString("latin1").replace(username, superuser), "latin1"),
  );
  const found = await judge({ DATABASE_URL: pooler.url(database.webUrl) });
  await pooler.cut();
  await database.asSuperuser(`DROP ROLE ${superuser}`);
  expect(found).toMatchObject({ DATABASE_URL: "ok", "Web role": "warning" });
});

it("doctor finds webhooks that are not queued, a worker that does not run, and jobs that fail", async () => {
  const wanted = { WEBHOOK_URL: "http://127.0.0.1:2/hook", WORKER_DATABASE_URL: database.workerUrl };
  expect(await judge(wanted)).toMatchObject({ code: 1, WORKER_DATABASE_URL: "problem", Webhooks: "problem" });
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["webhook"] } });
  const other = await createEmptyDatabase();
  await withClient(other.ownerUrl, async (workerOfOther) => {
    await workerOfOther.query("SELECT pg_advisory_lock($1)", [workerLock]);
    expect(await judge(wanted)).toMatchObject({ code: 0, Worker: "warning", Webhooks: "ok" });
  });
  expect(await judge(wanted, "--strict")).toMatchObject({ code: 1 });
  const worker = await startWorkerProcess({ ...wanted, DATABASE_URL: database.webUrl });
  expect(await judge(wanted, "--strict")).toMatchObject({ code: 0, Worker: "ok" });
  await worker.stop();
  await database.query(
    `SELECT graphile_worker.add_job('webhook', '{}') FROM generate_series(1, 3);
     UPDATE graphile_worker._private_jobs
     SET created_at = now() - interval '61 minutes', attempts = 1,
       last_error = CASE id WHEN middle THEN 'The receiver answered 500' ELSE 'It answered 404' END
     FROM (SELECT max(id) - 1 AS middle FROM graphile_worker.jobs) AS jobs`,
  );
  expect(await examine(wanted)).toMatch(
    /^warning {2}Webhooks: queued 3, given up 0\. Failed 3, most with: It answered 404\. When the cause is gone, try again with: waitlist retry$/m,
  );
  await database.query("UPDATE graphile_worker._private_jobs SET created_at = now() - interval '59 minutes'");
  expect(await judge(wanted)).toMatchObject({ Webhooks: "ok" });
  await database.query(
    "UPDATE graphile_worker._private_jobs SET attempts = max_attempts, created_at = now() - interval '61 minutes'",
  );
  expect(await examine(wanted)).toMatch(
    /^warning {2}Webhooks: queued 0, given up 3\..* When the cause is gone, try again with: waitlist retry$/m,
  );
  expect(await judge({})).toMatchObject({ Webhooks: "warning" }); // No longer configured.
  await migrate({ ownerUrl: database.ownerUrl, webUrl: database.webUrl });
});

it("doctor finds mails that are due for an hour, but not a mail that waits until tomorrow", async () => {
  const env = { ...mailSettings, WORKER_DATABASE_URL: database.workerUrl };
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["mail"] } });
  await database.query(
    `SELECT graphile_worker.add_job('mail', '{}', job_key => 'mail', run_at => now() + interval '1 day');
     UPDATE graphile_worker._private_jobs SET created_at = now() - interval '2 hours'`,
  );
  const verdictAfter = async (change: string) => {
    await database.query(`UPDATE graphile_worker._private_jobs SET ${change}`);
    return ((await judge(env)) as Record<string, unknown>)["Confirmation mails"];
  };
  expect(await verdictAfter("attempts = 0")).toBe("ok");
  expect(await verdictAfter("run_at = now() - interval '59 minutes'")).toBe("ok");
  expect(await verdictAfter("run_at = now() - interval '61 minutes'")).toBe("warning");
  expect(await verdictAfter("attempts = max_attempts")).toBe("ok");
  await database.query("DELETE FROM graphile_worker._private_jobs");
});

it("doctor finds entries that the worker should have deleted two days ago", async () => {
  const env = { ...mailSettings, WORKER_DATABASE_URL: database.workerUrl };
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["mail", "purge"] } });
  const setting = { ...env, RETENTION_MONTHS: "1", UNCONFIRMED_DAYS: "14" };
  const verdict = async (columns: Record<string, Date>, settings: Record<string, string> = setting) => {
    await database.query("TRUNCATE earlyaccess");
    await addEntry("Ada", "ada@example.com", columns);
    await database.query("DELETE FROM graphile_worker._private_jobs");
    return ((await judge(settings)) as Record<string, unknown>)["Deletion of old entries"];
  };
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
  expect(await verdict({ mailed_at: daysAgo(15) })).toBe("ok");
  expect(await verdict({ mailed_at: daysAgo(17) })).toBe("warning");
  expect(await verdict({ mailed_at: daysAgo(17) }, { ...setting, UNCONFIRMED_DAYS: "0" })).toBe("ok");
  expect(await verdict({ created_at: daysAgo(28), confirmed_at: daysAgo(28) })).toBe("ok");
  expect(await verdict({ created_at: daysAgo(35), confirmed_at: daysAgo(35) })).toBe("warning");
  expect(await examine(setting)).toMatch(
    /^warning {2}Deletion of old entries: 1 entry two days past RETENTION_MONTHS or /m,
  );
  expect(await judge(env)).not.toHaveProperty("Deletion of old entries");
  await database.query("TRUNCATE earlyaccess");
});

it("doctor counts the sign-ups that have neither a mail nor a job, and retry queues them", async () => {
  const env = { ...mailSettings, WORKER_DATABASE_URL: database.workerUrl };
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["mail"] } });
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
  const addAged = (name: string, hours: number, columns = {}) =>
    addEntry(name, `${name}@example.com`, { created_at: hoursAgo(hours), ...columns });
  await addEntry("first", "first@example.com");
  await database.query("DELETE FROM graphile_worker._private_jobs");
  expect(await examine(env)).toMatch(/^warning {2}Confirmation mails: .*, missing 1\. /m); // No mail was ever sent.
  await database.query("DELETE FROM earlyaccess");
  await database.query(`INSERT INTO earlyaccess (id, name, email, company, created_at)
    SELECT gen_random_uuid(), 'early', i || '@example.com', 'C', now() - interval '9 hours' FROM generate_series(1, 201) i`);
  await addAged("mailed", 10, { mailed_at: hoursAgo(8) });
  await addAged("mailed-later", 4, { mailed_at: hoursAgo(4) });
  await addAged("refused", 7, { mail_refusal: "550 5.1.1" });
  await addAged("bot", 7, { suspected_spam: true });
  await addAged("moved", 7, { imported: true });
  await addAged("invited", 7, { status: "invited" });
  await database.query("DELETE FROM graphile_worker._private_jobs");
  await addAged("queued", 6);
  await database.query("UPDATE graphile_worker._private_jobs SET attempts = 25, last_error = 'It failed'");
  expect(await judge(env)).toMatchObject({ "Confirmation mails": "ok" });
  await addAged("lost", 5);
  await database.query(
    "DELETE FROM graphile_worker._private_jobs WHERE id = (SELECT max(id) FROM graphile_worker.jobs)",
  );
  expect(await examine(env)).toMatch(/^warning {2}Confirmation mails: .*, missing 1\. /m);
  const retry = async (...args: string[]) => (await waitlist(["retry", ...args])).stdout;
  expect(await retry()).toBe("Failed mails and webhooks that are tried again: 1. Mails queued: 1.\n");
  expect(await judge(env)).toMatchObject({ "Confirmation mails": "ok" });
  const queued = await database.query(
    "SELECT name FROM earlyaccess JOIN graphile_worker.jobs ON key = 'mail ' || earlyaccess.id AND attempts = 0 ORDER BY name",
  );
  expect(queued.map(({ name }) => name)).toEqual(["lost", "queued"]);
  expect(await retry("--since", "1d")).toMatch(/ Mails queued: 201\.$/m);
});

it("doctor finds a last backup that is older than two days", async () => {
  const add = (age: string) =>
    database.query(`INSERT INTO earlyaccess_backups (finished_at, entries) VALUES (now() - interval '${age}', 7)`);
  await add("50 hours");
  expect(await examine()).toMatch(/^warning {2}Backup: .*: docker compose logs backup$/m);
  await add("47 hours");
  expect(await judge({})).toMatchObject({ Backup: "ok" });
});

const login = { user: "ada@perennial.example", password: "correct horse" };

/** Returns what doctor says about the mail server, whose certificates it trusts. */
async function examineServer(url: string, ...options: string[]): Promise<string> {
  await writeFile(file("ca.pem"), certificate + expiredCertificate);
  // Node reads the authority's file at its start.
  const env = { ...mailSettings, SMTP_URL: url, NODE_EXTRA_CA_CERTS: file("ca.pem") };
  const { stdout, stderr } = await runBuiltWaitlist(database, ["doctor", ...options], env);
  expect(stderr).toBe("");
  expect(stdout).not.toMatch(/hunter2|correct horse|correct%20horse/);
  return /^\w+ +(?:SMTP_URL|Test mail): .*$/m.exec(stdout)?.[0] ?? "";
}

it("doctor logs into the mail server, and prints no password", async () => {
  const server = await openMailServer({ encryption: "STARTTLS", login });
  expect(await examineServer(server.url)).toBe("ok       SMTP_URL: the mail server accepts connections");
  const wrong = Object.assign(new URL(server.url), { password: "hunter2" }).href;
  const refused = "Mail server error \\(AUTH PLAIN\\): 535\\..* See docs/mail\\.md\\.$";
  expect(await examineServer(wrong)).toMatch(new RegExp(`^problem {2}SMTP_URL: ${refused}`));
  expect(await examineServer(wrong, "--mail", "ada@example.com")).toMatch(
    new RegExp(`^problem {2}Test mail: ${refused}`),
  );
  expect(await examine({ ...mailSettings, SMTP_URL: server.url })).toMatch(
    /DEPTH_ZERO_SELF_SIGNED_CERT\. Mails wait\. See docs\/mail\.md\.$/m,
  );
  server.fail("login", "454 4.7.0 Try later with hunter2");
  expect(await examineServer(server.url)).toMatch(/\(AUTH PLAIN\): 454 4\.7\.0\. Mails wait\. See docs\/mail\.md\.$/);
  const byAddress = server.url.replace("localhost", "127.0.0.1");
  expect(await examineServer(byAddress)).toMatch(/: ERR_TLS_CERT_ALTNAME_INVALID\. Mails wait\. See docs\/mail\.md\.$/);
  await server.close();
  expect(await examineServer(server.url)).toMatch(/^problem .*: ECONNREFUSED\. Mails wait\. See docs\/mail\.md\.$/);
});

it.each<[fault: string, options: MailServerOptions, finding: RegExp]>([
  [
    "offers no login",
    { encryption: "STARTTLS", login, offersLogin: false },
    /\(AUTH PLAIN\): 50\d.* See docs\/mail\.md\.$/,
  ],
  ["offers no STARTTLS, which a login needs", { login }, /\(STARTTLS\): 50\d .* See docs\/mail\.md\.$/],
  [
    "has an expired certificate",
    { encryption: "TLS", certificate: expiredCertificate },
    /CERT_HAS_EXPIRED\. .*See docs\/mail\.md\.$/,
  ],
])("doctor and its test mail print the words of a mail server that %s", async (_, options, finding) => {
  const server = await openMailServer(options);
  onTestFinished(() => server.close());
  for (const own of [[], ["--mail", "ada@example.com"]]) {
    expect(await examineServer(server.url, ...own)).toMatch(finding);
  }
});
