// The Grafana dashboard and the Prometheus alert rules.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../../server/project-root.ts";
import { createTestDatabase } from "../support/database.ts";
import { readDashboard } from "../support/dashboard.ts";
import { signUp, startMeasuredSite } from "../support/metrics.ts";

const read = (name: string) => readFileSync(join(projectRoot, "deploy", name), "utf8");
const rules = read("prometheus-alerts.yml");

/** tests/process/worker-metrics.test.ts reads them from a real worker. */
const workerMetrics = ["oldest_job_seconds", "failed_jobs", "mails_total", "backup_age_seconds"];

it("the dashboard and the alerts name only existing metrics, and the dashboard shows every metric of the site", async () => {
  const database = await createTestDatabase();
  const site = await startMeasuredSite({ env: { DATABASE_URL: database.webUrl } });
  await signUp(site, { name: "Ada", email: "ada@example.com", company: "Engines" });
  await fetch(site.url);
  await site.metrics(); // Sign-ups and pages were counted before it.
  const names = new Set([...(await site.metrics()).keys()].map((key) => key.replace(/\{.*/, "")));
  await site.stop();
  await database.drop();
  const dashboard = readDashboard(read("grafana-dashboard.json"));
  const named = (text: string) => text.match(/\b(?:http|perennial|nodejs|process)_[a-z\d_]+/g) ?? [];
  const shown = new Set(dashboard.queries.flatMap(named));
  const alerted = new Set(named(rules));
  for (const name of workerMetrics) alerted.delete(`perennial_${name}`);
  expect([...shown, ...alerted].filter((name) => !names.has(name))).toEqual([]);
  const ours = [...names].filter((name) => /^(?:http|perennial)_/.test(name) && !/_(?:sum|count)$/.test(name));
  expect(ours.filter((name) => !shown.has(name))).toEqual([]);
});
