// The health check of the worker's container, as docker-compose.yml and docs/kubernetes.yaml have it, on a real worker.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { migrate } from "../../server/database/migrate.ts";
import { projectRoot } from "../../server/project-root.ts";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { openMailServer } from "../support/mail-server.ts";
import { startPostgres, type Postgres } from "../support/postgres.ts";
import { queryAs } from "../support/query.ts";
import { runWorker } from "../support/site.ts";
import { until } from "../support/until.ts";

const erasureKey = "a-key-of-32-characters-for-tests";
const running = killedAfterEach();
let postgres: Postgres;
let folder: string;

beforeAll(async () => {
  postgres = await startPostgres();
  folder = await mkdtemp(join(tmpdir(), "perennial-worker-"));
  await migrate({ ...postgres, erasureKey, worker: { url: postgres.ownerUrl, tasks: ["mail"] } });
});

afterAll(async () => {
  await postgres.release();
  await rm(folder, { recursive: true });
});

const read = (file: string) => readFileSync(join(projectRoot, file), "utf8");

function readCheck(): string {
  const { services } = parse(read("docker-compose.yml"), { merge: true }) as {
    services: { worker: { healthcheck: { test: [string, string] } } };
  };
  return services.worker.healthcheck.test[1];
}

/** Runs the check with another limit than a minute. */
function isHealthy(seconds: number): boolean {
  const check = readCheck().replace("60", String(seconds)).replace("/tmp", folder);
  return spawnSync("sh", ["-c", check]).status === 0;
}

it("is the same on Kubernetes", () => {
  const probes = parseAllDocuments(read("docs/kubernetes.yaml")).flatMap((document) => {
    const found = document.toJS() as { spec?: { template?: { spec?: { containers?: { livenessProbe?: object }[] } } } };
    return found.spec?.template?.spec?.containers?.map(({ livenessProbe }) => livenessProbe) ?? [];
  });
  expect(probes).toContainEqual(expect.objectContaining({ exec: { command: ["sh", "-c", readCheck()] } }) as unknown);
});

it("passes while the mail server hangs, and fails when Postgres does not answer", async () => {
  const mailServer = await openMailServer();
  mailServer.fail("connect", "hang");
  const insert = `INSERT INTO earlyaccess (id, name, email, company)
    SELECT gen_random_uuid(), 'Ada', 'ada' || i || '@example.com', 'Engines' FROM generate_series(1, 20) i`;
  await queryAs(postgres.webUrl, insert);
  const worker = runWorker({
    TMPDIR: folder,
    DATABASE_URL: postgres.ownerUrl,
    MAIL_FROM: "hello@perennial.example",
    SMTP_URL: mailServer.url,
    ERASURE_KEY: erasureKey,
    PUBLIC_URL: "https://perennial.example",
  });
  running.push(worker);
  expect(isHealthy(60)).toBe(false);
  await until("the worker is healthy", () => isHealthy(60));
  await until("mails hang", () => mailServer.connections() >= 4);
  await until("a mail is given up", () => worker.stdout().includes("GREETING_TIMEOUT"), 60);
  expect(isHealthy(30)).toBe(true); // Jobs have waited for longer than a round.
  postgres.signal("SIGSTOP");
  await until("the check fails", () => !isHealthy(30), 90);
  postgres.signal("SIGCONT");
  await mailServer.close();
  expect(await until("the worker ends", () => worker.process.exitCode, 60)).toBe(1);
  expect(worker.stderr()).toContain("Postgres does not answer the worker");
});
