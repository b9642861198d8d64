// The metrics, the alert rules and the dashboard in the hands of a real Prometheus, which comes with promtool.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { projectRoot } from "../../server/project-root.ts";
import { findProgram } from "../bench/processes.ts";
import { openStand, visitor } from "../chaos/stand.ts";
import { signUp } from "../support/metrics.ts";
import { freePort } from "../support/free-port.ts";
import { readDashboard } from "../support/dashboard.ts";
import type { Site } from "../support/site.ts";
import type { Say } from "../support/steps.ts";

const rules = join(projectRoot, "docs/prometheus-alerts.yml");

/**
 * @returns what was seen.
 * @throws where Prometheus cannot read something, an alert does not fire as it should, or a panel has nothing to show.
 */
export async function checkMetrics(say: Say): Promise<string> {
  promtool(["check", "rules", "--lint-fatal", rules]);
  promtool(["test", "rules", join(projectRoot, "tests/ops/alert-tests.yml")]);
  say("the alert rules fire for what they are about, and for nothing else");
  const stand = await openStand(say);
  try {
    const port = await freePort();
    const site = await stand.startSite({ METRICS_PORT: String(port) });
    await visit(site);
    promtool(["check", "metrics"], await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    say("promtool reads the metrics and finds nothing to complain of");
    const panels = await withPrometheus(port, async (ask) => {
      await visit(site); // Between two readings, as a rate needs a change.
      await sleep(3_000);
      return queryPanels(ask);
    });
    return `promtool: metrics and alerts are good; Prometheus has data for all ${panels} queries of the dashboard`;
  } finally {
    await stand.close();
  }
}

function promtool(args: string[], input = ""): void {
  const { status, stdout, stderr } = spawnSync(program("promtool"), args, { input, encoding: "utf8" });
  assert.equal(status, 0, `promtool ${args.join(" ")}: ${stdout}${stderr}`);
}

function program(name: string): string {
  const path = findProgram(name);
  if (!path) throw new Error(`A real ${name} is needed, for example of Debian's package prometheus.`);
  return path;
}

/** New and known visitors, a bot, and one who is refused. */
async function visit(site: Site): Promise<void> {
  await fetch(site.url);
  for (let i = 0; i < 3; i++) await signUp(site, visitor("metrics"));
  await signUp(site, { ...visitor(`bot.${performance.now()}`), message: "Buy this" });
  await signUp(site, { ...visitor(0), email: "none" });
}

type Ask = (path: string, parameters?: Record<string, string>) => Promise<unknown>;

/** Runs Prometheus with the alert rules on the metrics at the port, until it has read them. */
async function withPrometheus<T>(port: number, use: (ask: Ask) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-prometheus-"));
  const address = `127.0.0.1:${await freePort()}`;
  const scrape = { job_name: "perennial", scrape_interval: "1s", static_configs: [{ targets: [`127.0.0.1:${port}`] }] };
  // JSON is YAML.
  const config = JSON.stringify({ rule_files: [rules], scrape_configs: [scrape] });
  await writeFile(join(folder, "prometheus.yml"), config);
  const options = [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`];
  const server = spawn(program("prometheus"), [...options, `--web.listen-address=${address}`], { stdio: "ignore" });
  const ask: Ask = async (path, parameters = {}) => {
    const response = await fetch(`http://${address}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`);
    const { status, data, error } = (await response.json()) as { status: string; data: unknown; error?: string };
    assert.equal(status, "success", `${error}: ${JSON.stringify(parameters)}`);
    return data;
  };
  try {
    await untilUp(ask);
    return await use(ask);
  } finally {
    server.kill();
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
    await rm(folder, { recursive: true });
  }
}

async function untilUp(ask: Ask): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { result } = (await ask("query", { query: 'up{job="perennial"} == 1' }).catch(() => ({ result: [] }))) as {
      result: unknown[];
    };
    if (result.length > 0) return;
    await sleep(200);
  }
  throw new Error("Prometheus did not read the metrics.");
}

/** @returns how many queries there are; each of them finds something. */
async function queryPanels(ask: Ask): Promise<number> {
  const { queries } = readDashboard(readFileSync(join(projectRoot, "docs/grafana-dashboard.json"), "utf8"));
  const variables = { $job: "perennial", $instance: ".*", $__rate_interval: "30s", $__range: "30s" };
  for (const text of queries) {
    const query = Object.entries(variables).reduce((done, [name, value]) => done.replaceAll(name, value), text);
    const { result } = (await ask("query", { query })) as { result: unknown[] };
    assert(result.length > 0, `A panel has nothing to show: ${query}`);
  }
  return queries.length;
}
