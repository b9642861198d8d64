// The worker as a process and its health check, and the daily deletion of old entries.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { hashEmail } from "../../server/database/erasure-key.ts";
import { migrate } from "../../server/database/migrate.ts";
import { projectRoot } from "../../server/project-root.ts";
import { purgeCrontab } from "../../server/worker/purge.ts";
import { createTestDatabase, erasureKey, type TestDatabase } from "../support/database.ts";
import { openMailServer } from "../support/mail-server.ts";
import { openWire } from "../support/tcp-proxy.ts";
import { until } from "../support/run.ts";
import { insertEntries } from "../support/waitlist-fixture.ts";
import * as support from "../support/worker.ts";

const read = (file: string) => readFileSync(join(projectRoot, file), "utf8");
let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase("mail");
});

it("the worker's health check passes while the mail server hangs, and fails when Postgres does not answer", async () => {
  const folder = await mkdtemp(join(tmpdir(), "perennial-worker-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [, image = "[]"] = /^HEALTHCHECK .*\\\n +CMD (\[.*\])$/m.exec(read("Dockerfile")) ?? [];
  const [, kubernetes = ""] = /command: \["sh", "-c", "(find .*)"\]/.exec(read("deploy/kubernetes.yaml")) ?? [];
  const [, , inImage = ""] = JSON.parse(image) as string[];
  const PORT = `${await freePort()}`; // No site listens there.
  const passes = (check: string) =>
    spawnSync("bash", ["-c", check.replace("/tmp", folder)], { env: { ...process.env, PORT } }).status === 0;
  const isHealthy = () => {
    const results = [inImage, kubernetes].map(passes);
    expect(new Set(results).size).toBe(1);
    return results[0];
  };
  const passTwoMinutes = async () => {
    const lastRound = new Date(Date.now() - 120_000);
    await utimes(join(folder, "perennial-worker"), lastRound, lastRound);
    expect(isHealthy()).toBe(false);
  };

  const mailServer = await openMailServer();
  mailServer.fail("connect", "hang");
  const wire = await openWire(database.workerUrl);
  await insertEntries(
    database,
    Array.from({ length: 20 }, (_, i) => ({ name: "Ada", email: `ada${i}@example.com`, company: "Engines" })),
  );
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const settings = {
    ...support.mailSettings,
    DATABASE_URL: wire.url(database.workerUrl),
    SMTP_URL: mailServer.url,
  };
  const worker = await support.startWorker(settings, 2_000);
  await until("mails hang", () => mailServer.connections() >= 4);
  await passTwoMinutes();
  await until("a round has passed", isHealthy);
  wire.stall();
  expect(await until("the worker ends", () => worker.failure())).toMatchObject({
    message: expect.stringContaining("Postgres does not answer the worker"),
  });
  await passTwoMinutes();
  await wire.cut();
  await mailServer.close();
});

/** Starts a worker that deletes, with one entry above the age and one below. */
async function startPurge() {
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["purge"] } });
  await database.query(
    `INSERT INTO earlyaccess (id, name, email, company, created_at)
     SELECT gen_random_uuid(), 'Ada', name || '@example.com', 'Engines', now() - age::interval
     FROM (VALUES ('old', '24 months 1 day'), ('new', '23 months 27 days')) AS entry (name, age)`,
  );
  return startWorker();
}

const startWorker = () =>
  support.startWorker({ DATABASE_URL: database.workerUrl, RETENTION_MONTHS: "24", ERASURE_KEY: erasureKey });
const emails = async () => (await database.query("SELECT email FROM earlyaccess")).map(({ email }) => email);

it("the worker deletes what is older than RETENTION_MONTHS or was erased before a restore, and keeps the hashes", async () => {
  const worker = await startPurge();
  await insertEntries(database, [{ name: "Bob", email: "back@example.com", company: "Bobs" }]);
  const hash = (name: string) => hashEmail(`${name}@example.com`, erasureKey);
  await database.query("INSERT INTO earlyaccess_erasures.addresses (hash) VALUES ($1)", [hash("back")]);
  await database.query("SELECT graphile_worker.add_job('purge')");
  await support.emptied(database);
  expect(await emails()).toEqual(["new@example.com"]);
  const erased = "SELECT FROM earlyaccess_erasures.addresses WHERE hash = $1";
  expect(await database.query(erased, [hash("old")])).toHaveLength(1);
  expect(worker.log()).toContain("deleted entries older than 24 months: 1, of erased addresses: 1");
  expect(worker.log()).not.toContain("@");
});

it("the worker deletes each day, and catches up on a day without a worker", async () => {
  expect(purgeCrontab).toMatch(/^\d+ \d+ \* \* \* purge /);
  await (await startPurge()).stop();
  expect(await emails()).toHaveLength(2);
  await database.query(
    "UPDATE graphile_worker._private_known_crontabs SET known_since = known_since - interval '3 days'",
  );
  await startWorker();
  await until("the old entry is deleted", async () => (await emails()).length === 1);
  await support.emptied(database);
});
