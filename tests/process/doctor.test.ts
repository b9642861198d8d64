// The command waitlist doctor.
import { expect, it } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { createEmptyDatabase } from "../support/database.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { runWorker } from "../support/site.ts";
import { until } from "../support/until.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";
import { runWaitlist, verdicts } from "../support/waitlist.ts";

const { database, waitlist } = createWaitlistFixture();
const running = killedAfterEach();

it("doctor finds nothing if all is well", async () => {
  const { code, stdout, stderr } = await waitlist(["doctor"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(verdicts(stdout)).toEqual({
    Settings: "ok",
    DATABASE_URL: "ok",
    Migrations: "ok",
    "Web role": "ok",
    Erasures: "ok",
    Backup: "ok",
  });
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

it("doctor finds a database that was not migrated, and a password that is refused", async () => {
  const empty = await createEmptyDatabase();
  const { code, stdout } = await runWaitlist(empty, ["doctor"]);
  await empty.drop();
  expect([code, verdicts(stdout)]).toEqual([
    1,
    { Settings: "ok", DATABASE_URL: "problem", Migrations: "problem", "Web role": "ok" },
  ]);
  const wrong = Object.assign(new URL(database.webUrl), { password: "hunter2" }).href;
  const refused = await waitlist(["doctor"], { DATABASE_URL: wrong });
  expect([refused.code, verdicts(refused.stdout)]).toMatchObject([1, { DATABASE_URL: "problem", Migrations: "ok" }]);
  expect(refused.stdout).not.toContain("hunter2");
});

it("doctor finds webhooks that are not queued, that wait, and that are not wanted any more", async () => {
  const wanted = { WEBHOOK_URL: "http://127.0.0.1:1/hook", WORKER_DATABASE_URL: database.workerUrl };
  const none = await waitlist(["doctor"], wanted);
  expect([none.code, verdicts(none.stdout)]).toMatchObject([
    1,
    { WORKER_DATABASE_URL: "problem", Webhooks: "problem" },
  ]);
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["webhook"] } });
  const fine = await waitlist(["doctor"], wanted);
  expect([fine.code, verdicts(fine.stdout)]).toMatchObject([0, { WORKER_DATABASE_URL: "ok", Webhooks: "ok" }]);
  expect(fine.stdout).toMatch(/^warning {2}Worker: none runs: .* COMPOSE_PROFILES /m);
  expect((await waitlist(["doctor", "--strict"], wanted)).code).toBe(1);
  const worker = runWorker({ ...wanted, DATABASE_URL: database.webUrl });
  running.push(worker);
  await until("the worker runs", () => worker.stdout().includes("worker started"), 50);
  const { code, stdout } = await waitlist(["doctor", "--strict"], wanted);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok {7}Worker: runs$/m)]);
  await worker.stop();
  expect((await waitlist(["doctor"])).stdout).toMatch(/^warning {2}Webhooks: .* not configured here/m);
  await database.query("SELECT graphile_worker.add_job('webhook', '{}')");
  await database.query(
    "UPDATE graphile_worker._private_jobs SET created_at = now() - interval '1 hour', last_error = 'The receiver answered 500'",
  );
  expect((await waitlist(["doctor"], wanted)).stdout).toMatch(
    /^warning {2}Webhooks: jobs that wait: 1, .* The latest error: The receiver answered 500\.$/m,
  );
  await database.query("UPDATE graphile_worker._private_jobs SET attempts = max_attempts");
  expect((await waitlist(["doctor"], wanted)).stdout).toMatch(
    /^warning {2}Webhooks: .* given up after 25 attempts: 1/m,
  );
  await migrate({ ownerUrl: database.ownerUrl, webUrl: database.webUrl });
});

it("doctor finds exchanged URLs, in production as a problem, and prints no stack", async () => {
  const exchanged = { DATABASE_URL: database.ownerUrl, DATABASE_OWNER_URL: database.webUrl };
  const { code, stdout, stderr } = await waitlist(["doctor"], exchanged);
  expect([code, stderr]).toEqual([1, ""]);
  expect(verdicts(stdout)).toMatchObject({ "Web role": "warning", Migrations: "problem" });
  const inProduction = await waitlist(["doctor"], { ...exchanged, NODE_ENV: "production" });
  expect(verdicts(inProduction.stdout)["Web role"]).toBe("problem");
});

it("doctor finds a last backup that is older than two days", async () => {
  const add = (age: string) =>
    database.query(`INSERT INTO earlyaccess_backups (finished_at, entries) VALUES (now() - interval '${age}', 7)`);
  await add("50 hours");
  expect((await waitlist(["doctor"])).stdout).toMatch(/^warning {2}Backup: .* docker compose logs backup$/m);
  await add("47 hours");
  expect((await waitlist(["doctor"])).stdout).toMatch(/^ok {7}Backup: the latest good one is of \d/m);
});

it("doctor finds a wrong and a missing ERASURE_KEY", async () => {
  await migrate({ ...database, erasureKey: "a-key-of-32-characters-for-tests" });
  for (const env of [{}, { ERASURE_KEY: "another-key-of-32-characters-here" }]) {
    const { code, stdout } = await waitlist(["doctor"], env);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^problem .*ERASURE_KEY is not /m)]);
  }
});
