// Reads deploy/grafana-dashboard.json.
import { z } from "zod";

const target = z.object({ datasource: z.object({ uid: z.literal("${DS_PROMETHEUS}") }), expr: z.string().min(1) });
const dashboard = z.object({ panels: z.array(z.object({ targets: z.array(target).default([]) })) });

/** @throws if a query has another data source than the one that Grafana asks for at the import. */
export function readDashboard(json: string): { queries: string[] } {
  const { panels } = dashboard.parse(JSON.parse(json));
  return { queries: panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)) };
}
