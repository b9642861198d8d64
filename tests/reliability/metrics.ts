// The metrics, the alert rules and the dashboard in a real Prometheus, which comes with promtool.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { migrate } from "../../server/database/migrate.ts";
import { projectRoot } from "../../server/project-root.ts";
import { findProgram, runWorker, type Site, until } from "../support/run.ts";
import { postSignup } from "../support/site.ts";
import { signupBody, type StackScenarios } from "../support/stack.ts";

const rules = join(projectRoot, "deploy/prometheus-alerts.yml");

/** Prometheus must be able to read everything, each alert must fire as it should, and each panel must have data. */
export const metrics: StackScenarios = {
  "metrics, alerts and dashboard in Prometheus": async (stack) => {
    promtool(["check", "rules", "--lint-fatal", rules]);
    promtool(["test", "rules", join(projectRoot, "tests/reliability/alert-tests.yml")]);
    const port = await freePort();
    const site = await stack.startSite({ METRICS_PORT: String(port) });
    await causeMetrics(site);
    const { ownerUrl, webUrl } = stack.postgres;
    await migrate({ ownerUrl, webUrl, worker: { url: ownerUrl, tasks: ["purge"] } });
    const workerPort = await freePort();
    const worker = runWorker({ DATABASE_URL: ownerUrl, RETENTION_MONTHS: "1", WORKER_METRICS_PORT: `${workerPort}` });
    try {
      await until("the worker runs", () => worker.stdout().includes("worker started"));
      for (const each of [port, workerPort])
        promtool(["check", "metrics"], await (await fetch(`http://127.0.0.1:${each}/metrics`)).text());
      const panels = await withPrometheus([port, workerPort], stack.folder, async (query) => {
        await causeMetrics(site); // Between two readings, as a rate needs a change.
        await sleep(3_000);
        return queryPanels(query);
      });
      return `promtool accepts the metrics, the alerts fire as tested, and all ${panels} queries of the dashboard have data`;
    } finally {
      await worker.stop();
    }
  },
};

function promtool(args: string[], input = ""): string {
  const { status, stdout, stderr } = spawnSync(findProgram("promtool"), args, { input, encoding: "utf8" });
  assert.equal(status, 0, `promtool ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** Sends a page view, and sign-ups of a new visitor, a known one, a bot and one with an invalid address. */
async function causeMetrics(site: Site): Promise<void> {
  await fetch(site.url);
  for (let i = 0; i < 3; i++) await postSignup(site, signupBody("metrics"));
  await postSignup(site, { ...signupBody(`bot.${performance.now()}`), message: "Buy this" });
  await postSignup(site, { ...signupBody(0), email: "none" });
}

/** Returns the result of a PromQL query, which is empty without data. */
type Query = (promql: string) => string;

/** Runs Prometheus on the metrics at the ports, and calls `use` once it has read them. */
async function withPrometheus<T>(ports: number[], folder: string, use: (query: Query) => Promise<T>): Promise<T> {
  const host = `127.0.0.1:${await freePort()}`;
  const targets = ports.map((port) => `127.0.0.1:${port}`);
  const scrape = { job_name: "perennial", scrape_interval: "1s", static_configs: [{ targets }] };
  // JSON is YAML.
  await writeFile(join(folder, "prometheus.yml"), JSON.stringify({ rule_files: [rules], scrape_configs: [scrape] }));
  const options = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/prometheus`];
  const server = spawn(findProgram("prometheus"), [...options, `--web.listen-address=${host}`], { stdio: "ignore" });
  const query: Query = (promql) => promtool(["query", "instant", `http://${host}`, promql]);
  try {
    await until("Prometheus runs", async () => (await fetch(`http://${host}/-/ready`).catch(() => undefined))?.ok);
    const isRead = () => query(`count(up{job="perennial"} == 1) == ${ports.length}`).trim() !== "";
    await until("Prometheus has read the metrics", isRead);
    return await use(query);
  } finally {
    server.kill();
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
  }
}

/** Grafana asks for the data source at the import. */
const target = z.object({ datasource: z.object({ uid: z.literal("${DS_PROMETHEUS}") }), expr: z.string().min(1) });
const panel = z.object({ type: z.string(), targets: z.array(target).default([]) });
const hasQuery = ({ type, targets }: z.infer<typeof panel>) => type === "row" || targets.length > 0;
const dashboard = z.object({ panels: z.array(panel.refine(hasQuery, "a panel without a query")) });

/** Asserts that each query of the dashboard has data, and returns how many there are. */
function queryPanels(query: Query): number {
  const json = readFileSync(join(projectRoot, "deploy/grafana-dashboard.json"), "utf8");
  const queries = dashboard.parse(JSON.parse(json)).panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const variables = { $job: "perennial", $instance: ".*", $__rate_interval: "30s", $__range: "30s" };
  for (const text of queries) {
    const promql = Object.entries(variables).reduce((done, [name, value]) => done.replaceAll(name, value), text);
    assert.notEqual(query(promql).trim(), "", `no data for ${promql}`);
  }
  return queries.length;
}
