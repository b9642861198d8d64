// Reads deploy/grafana-dashboard.json with the checks of Grafana's import.
import { z } from "zod";

const source = z.object({ type: z.literal("prometheus"), uid: z.literal("${DS_PROMETHEUS}") });

const panel = z.object({
  id: z.int(),
  title: z.string().min(1),
  type: z.enum(["row", "stat", "timeseries", "heatmap"]),
  gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  targets: z.array(z.object({ refId: z.string(), datasource: source, expr: z.string().min(1) })).default([]),
});

const dashboard = z.object({
  __inputs: z.tuple([
    z.object({ name: z.literal("DS_PROMETHEUS"), type: z.literal("datasource"), pluginId: z.literal("prometheus") }),
  ]),
  id: z.null(), // Grafana assigns one.
  uid: z.string().max(40),
  title: z.string().min(1),
  schemaVersion: z.int().min(36),
  templating: z.object({ list: z.array(z.object({ name: z.string(), datasource: source })) }),
  panels: z.array(panel),
});

export type Dashboard = z.infer<typeof dashboard> & { queries: string[] };

/** @throws if Grafana could not import it. */
export function readDashboard(json: string): Dashboard {
  const read = dashboard.parse(JSON.parse(json));
  return { ...read, queries: read.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)) };
}
