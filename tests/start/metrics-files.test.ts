// The Grafana dashboard and the Prometheus alert rules.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../../server/project-root.ts";
import { createTestDatabase } from "../support/database.ts";
import { readDashboard } from "../support/dashboard.ts";
import { signUp, startMeasuredSite } from "../support/metrics.ts";

const read = (name: string) => readFileSync(join(projectRoot, "docs", name), "utf8");
const rules = read("prometheus-alerts.yml");

/** tests/start/worker-metrics.test.ts reads them from a real worker. */
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

it("every panel of the dashboard has a unique id and a place of its own in the grid", () => {
  const { panels } = readDashboard(read("grafana-dashboard.json"));
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
});

it("every alert has a severity, a summary and a description", () => {
  const alerts = rules.split(/^ {6}- alert: /m).slice(1);
  expect(alerts.map((alert) => alert.split("\n", 1)[0])).toEqual([
    "PerennialDown",
    "PerennialNotReady",
    "PerennialServerErrors",
    "PerennialSlow",
    "PerennialSignupsUnavailable",
    "PerennialCeilingReached",
    "PerennialEventLoopLag",
    "PerennialPoolWaiting",
    "PerennialJobsLate",
    "PerennialJobsFailed",
    "PerennialMailsRefused",
    "PerennialBackupOld",
  ]);
  for (const alert of alerts)
    expect(alert).toMatch(/severity: (?:critical|warning)\n[^]*summary: .+\n[^]*description: >-\n/);
});
