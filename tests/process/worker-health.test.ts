// The health check of the worker's container, as docker-compose.yml and deploy/kubernetes.yaml have it, on a real worker.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { projectRoot } from "../../server/project-root.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { openMailServer } from "../support/mail-server.ts";
import { queryAs } from "../support/query.ts";
import { runWorker } from "../support/site.ts";
import { openWire } from "../support/tcp-proxy.ts";
import { erasureKey } from "../support/templates.ts";
import { until } from "../support/until.ts";

const running = killedAfterEach();
let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase("mail");
  folder = await mkdtemp(join(tmpdir(), "perennial-worker-"));
});

afterAll(() => rm(folder, { recursive: true }));

const read = (file: string) => readFileSync(join(projectRoot, file), "utf8");

function readCheck(): string {
  const { services } = parse(read("docker-compose.yml"), { merge: true }) as {
    services: { worker: { healthcheck: { test: [string, string] } } };
  };
  return services.worker.healthcheck.test[1];
}

const isHealthy = () => spawnSync("sh", ["-c", readCheck().replace("/tmp", folder)]).status === 0;

/** As if the last round had been two minutes ago. */
async function passTwoMinutes(): Promise<void> {
  const moment = new Date(Date.now() - 120_000);
  await utimes(join(folder, "perennial-worker"), moment, moment);
}

it("the worker's health check is the same on Kubernetes as in Docker Compose", () => {
  const probes = parseAllDocuments(read("deploy/kubernetes.yaml")).flatMap((document) => {
    const found = document.toJS() as { spec?: { template?: { spec?: { containers?: { livenessProbe?: object }[] } } } };
    return found.spec?.template?.spec?.containers?.map(({ livenessProbe }) => livenessProbe) ?? [];
  });
  expect(probes).toContainEqual(expect.objectContaining({ exec: { command: ["sh", "-c", readCheck()] } }) as unknown);
});

it("the worker's health check passes while the mail server hangs, and fails when Postgres does not answer", async () => {
  const mailServer = await openMailServer();
  mailServer.fail("connect", "hang");
  const wire = await openWire(database.workerUrl);
  await queryAs(
    database.webUrl,
    `INSERT INTO earlyaccess (id, name, email, company)
     SELECT gen_random_uuid(), 'Ada', 'ada' || i || '@example.com', 'Engines' FROM generate_series(1, 20) i`,
  );
  const worker = runWorker({
    TMPDIR: folder,
    DATABASE_URL: wire.url(database.workerUrl),
    MAIL_FROM: "hello@perennial.example",
    SMTP_URL: mailServer.url,
    ERASURE_KEY: erasureKey,
    PUBLIC_URL: "https://perennial.example",
  });
  running.push(worker);
  expect(isHealthy()).toBe(false);
  await until("mails hang", () => mailServer.connections() >= 4);
  await passTwoMinutes();
  expect(isHealthy()).toBe(false);
  await until("a round has passed", isHealthy);
  wire.stall();
  expect(await until("the worker ends", () => worker.process.exitCode, 50)).toBe(1);
  expect(worker.stderr()).toContain("Postgres does not answer the worker");
  await passTwoMinutes();
  expect(isHealthy()).toBe(false);
  await wire.cut();
  await mailServer.close();
});
