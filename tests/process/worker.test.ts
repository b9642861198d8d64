// The worker as a process and its health check, and the daily deletion of old entries.
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { parse } from "yaml";
import { migrate } from "../../server/database/migrate.ts";
import { projectRoot } from "../../server/config/project-root.ts";
import { purgeCrontab } from "../../server/worker/purge.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { openMailServer } from "../support/mail-server.ts";
import { openWire } from "../support/tcp-proxy.ts";
import { until } from "../support/run.ts";
import { insertEntries } from "../support/waitlist-fixture.ts";
import * as support from "../support/worker.ts";

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase("mail");
});

it("the worker's health check in Compose passes while the mail server hangs, and fails when Postgres does not answer", async () => {
  const folder = await mkdtemp(join(tmpdir(), "perennial-worker-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const compose = parse(await readFile(join(projectRoot, "docker-compose.yml"), "utf8"), { merge: true }) as {
    services: { worker: { healthcheck: { test: [string, string] } } };
  };
  const [, check] = compose.services.worker.healthcheck.test;
  expect(await readFile(join(projectRoot, "docs/worker.md"), "utf8")).toContain(`--health-cmd "${check}"`);
  const isHealthy = () => spawnSync("sh", ["-c", check.replace("/tmp", folder)]).status === 0;
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
  const urls = { DATABASE_URL: wire.url(database.workerUrl), SMTP_URL: mailServer.url };
  const worker = await support.startWorker({ ...support.mailSettings, ...urls }, 2_000);
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

it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "the worker ends without an error after %s, also if Postgres ends each connection while the worker closes it, as at the end of the machine",
  async (signal) => {
    const sql = "SELECT pg_terminate_backend(pg_backend_pid())\0";
    const length = Buffer.alloc(4);
    length.writeInt32BE(sql.length + 4);
    const goodbye = Buffer.from("X\0\0\0\x04");
    const wire = await openWire(database.workerUrl, (sent) =>
      sent.equals(goodbye) ? Buffer.concat([Buffer.from("Q"), length, Buffer.from(sql)]) : sent,
    );
    const urls = { WORKER_DATABASE_URL: wire.url(database.workerUrl), SMTP_URL: "smtp://127.0.0.1:9" };
    const worker = await support.startWorkerProcess({ ...support.mailSettings, ...urls });
    expect(await worker.stop(signal)).toBe(0);
    expect(worker.stderr()).toBe("");
    await wire.cut();
  },
);

it("the worker ends without an error if it loses Postgres a moment before the signal, as at the end of the machine", async () => {
  const urls = { DATABASE_URL: database.workerUrl, SMTP_URL: "smtp://127.0.0.1:9" };
  const worker = await support.startWorker({ ...support.mailSettings, ...urls }, 2_000);
  await database.asSuperuser(
    `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON oid = database
     WHERE locktype = 'advisory' AND datname = current_database()`,
  );
  await until("a round failed", () => worker.log().includes("the worker ends"));
  await worker.stop();
  expect(worker.failure()).toBeUndefined();
});

const purging = () => ({ DATABASE_URL: database.workerUrl, RETENTION_MONTHS: "24" });
const emails = async () => (await database.query("SELECT email FROM earlyaccess")).map(({ email }) => email);
const findErased = (name: string) =>
  database.query("SELECT FROM earlyaccess_kept.addresses WHERE hash = earlyaccess_kept.hash_email($1)", [
    `${name}@example.com`,
  ]);

/** Adds an entry that is almost too old, two that are, and one of an erased address. */
async function addToPurge(): Promise<void> {
  await migrate({ ...database, worker: { url: database.workerUrl, tasks: ["purge"] } });
  await database.query(
    `INSERT INTO earlyaccess (id, name, email, company, created_at)
     SELECT gen_random_uuid(), 'Ada', name || '@example.com', 'Engines', now() - age::interval
     FROM (VALUES ('new', '23 months 27 days'), ('old', '24 months 1 day'), ('older', '3 years'), ('back', '1 day')) AS entry (name, age)`,
  );
  await database.query("INSERT INTO earlyaccess_kept.addresses (hash) VALUES (earlyaccess_kept.hash_email($1))", [
    "back@example.com",
  ]);
}

/** Starts the worker, which stopped before the time of the daily deletion. Returns its log after the deletion. */
async function purge(): Promise<string> {
  await (await support.startWorker(purging())).stop();
  await database.query(
    "UPDATE graphile_worker._private_known_crontabs SET known_since = known_since - interval '3 days'",
  );
  const worker = await support.startWorker(purging());
  await until("the worker deleted", () => worker.log().includes("deleted entries"));
  await support.emptied(database);
  return worker.log();
}

it("the worker deletes once a day, and not at its start", async () => {
  expect(purgeCrontab).toMatch(/^\d+ \d+ \* \* \* purge /);
  await addToPurge();
  await (await support.startWorker(purging())).stop();
  expect(await emails()).toHaveLength(4);
});

it("after a day without a worker, it deletes what is older than RETENTION_MONTHS, keeps its hash, and deletes what a restore brought back", async () => {
  await addToPurge();
  const log = await purge();
  expect(await emails()).toEqual(["new@example.com"]);
  expect(await findErased("old")).toHaveLength(1);
  expect(log).toContain("deleted entries older than 24 months: 2, of erased addresses: 1");
  expect(log).not.toContain("@");
});
