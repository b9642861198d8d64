// The metrics, the alert rules and the dashboard in a real Prometheus, which comes with promtool.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { projectRoot } from "../../server/project-root.ts";
import { postSignup } from "../support/visitors.ts";
import { readDashboard } from "../support/dashboard.ts";
import { freePort } from "../../server/http/listen.ts";
import { findProgram } from "../support/programs.ts";
import type { Say } from "../support/scenarios.ts";
import type { Site } from "../support/site.ts";
import { signupBody, withStack } from "../support/stack.ts";
import { until } from "../support/until.ts";

const rules = join(projectRoot, "deploy/prometheus-alerts.yml");

/** Prometheus must be able to read everything, each alert must fire as it should, and each panel must have data. */
export async function checkMetrics(say: Say): Promise<string> {
  promtool(["check", "rules", "--lint-fatal", rules]);
  promtool(["test", "rules", join(projectRoot, "tests/reliability/alert-tests.yml")]);
  return withStack(say, async (stack) => {
    const port = await freePort();
    const site = await stack.startSite({ METRICS_PORT: String(port) });
    await causeMetrics(site);
    promtool(["check", "metrics"], await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    const panels = await withPrometheus(port, async (query) => {
      await causeMetrics(site); // Between two readings, as a rate needs a change.
      await sleep(3_000);
      return queryPanels(query);
    });
    return `promtool accepts the metrics, the alerts fire as tested, and all ${panels} queries of the dashboard have data`;
  });
}

function promtool(args: string[], input = ""): void {
  const { status, stdout, stderr } = spawnSync(findProgram("promtool"), args, { input, encoding: "utf8" });
  assert.equal(status, 0, `promtool ${args.join(" ")}: ${stdout}${stderr}`);
}

/** Sends a page view, and sign-ups of a new visitor, a known one, a bot and one with an invalid address. */
async function causeMetrics(site: Site): Promise<void> {
  await fetch(site.url);
  for (let i = 0; i < 3; i++) await postSignup(site, signupBody("metrics"));
  await postSignup(site, { ...signupBody(`bot.${performance.now()}`), message: "Buy this" });
  await postSignup(site, { ...signupBody(0), email: "none" });
}

/** Returns the result of a PromQL query. */
type Query = (query: string) => Promise<unknown[]>;

/** Runs Prometheus with the alert rules on the metrics at the port, and calls `use` once it has read them. */
async function withPrometheus<T>(port: number, use: (query: Query) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-prometheus-"));
  const address = `127.0.0.1:${await freePort()}`;
  const scrape = { job_name: "perennial", scrape_interval: "1s", static_configs: [{ targets: [`127.0.0.1:${port}`] }] };
  // JSON is YAML.
  const config = JSON.stringify({ rule_files: [rules], scrape_configs: [scrape] });
  await writeFile(join(folder, "prometheus.yml"), config);
  const options = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
  const server = spawn(findProgram("prometheus"), [...options, `--web.listen-address=${address}`], { stdio: "ignore" });
  const query: Query = async (promql) => {
    const response = await fetch(`http://${address}/api/v1/query?${new URLSearchParams({ query: promql }).toString()}`);
    const { status, data, error } = (await response.json()) as {
      status: string;
      data: { result: unknown[] };
      error?: string;
    };
    assert.equal(status, "success", `${error}: ${promql}`);
    return data.result;
  };
  try {
    const hasRead = async () => (await query('up{job="perennial"} == 1').catch(() => [])).length > 0;
    await until("Prometheus has read the metrics", hasRead);
    return await use(query);
  } finally {
    server.kill();
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
    await rm(folder, { recursive: true });
  }
}

/** Asserts that each query of the dashboard has data, and returns how many there are. */
async function queryPanels(query: Query): Promise<number> {
  const { queries } = readDashboard(readFileSync(join(projectRoot, "deploy/grafana-dashboard.json"), "utf8"));
  const variables = { $job: "perennial", $instance: ".*", $__rate_interval: "30s", $__range: "30s" };
  for (const text of queries) {
    const promql = Object.entries(variables).reduce((done, [name, value]) => done.replaceAll(name, value), text);
    assert((await query(promql)).length > 0, `no data for ${promql}`);
  }
  return queries.length;
}
