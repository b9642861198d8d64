// The site's Prometheus metrics, and the server of metrics. Loaded only if a port is set: the library costs memory and start-up time.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type pg from "pg";
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { confirmPath, leavePath, signupPath, viewPath } from "../client/shared/paths.ts";
import { flags } from "./database/columns.ts";
import { listen } from "./http/listen.ts";
import { isRead } from "./http/negotiation.ts";
import type { OnResponse } from "./middleware/request-log.ts";
import type { OnStored } from "./models/waitlist.ts";

interface Sources {
  pool: pg.Pool;
  isReady: () => Promise<boolean>;
}

/** In seconds. Cached pages take a tenth of a millisecond, and sign-ups a few milliseconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** The library's gauges whose names end like a counter's, which promtool reports. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  return {
    onResponse: countResponses([registry]),
    onStored: countSignups([registry]),
    serve: (host: string, port: number, sources: Sources) => {
      addGauges(registry, sources);
      return serveMetrics(registry, host, port);
    },
  };
}

function countResponses(registers: Registry[]): OnResponse {
  const requests = new Counter({
    name: "http_requests_total",
    help: "Requests by method, route and status; aborted: the client disconnected before the response was sent.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Seconds from the request's headers to the end of the response, or until the client disconnected.",
    labelNames: ["route"],
    buckets,
    registers,
  });
  // Start each series at 0: rate() misses an event that begins a series.
  for (const status of [403, 410, 413, 415, 422, 429]) requests.inc({ method: "POST", route: signupPath, status }, 0);
  for (const route of ["/", signupPath, confirmPath, leavePath])
    for (const status of [500, 503]) requests.inc({ method: "POST", route, status }, 0);
  return function countResponse({ method = "", path, status, seconds }, res) {
    const route = routeOf(path, res.statusCode);
    requests.inc({ method: methods.has(method) ? method : "other", route, status });
    durations.observe({ route }, seconds);
  };
}

function countSignups(registers: Registry[]): OnStored {
  const signups = new Counter({
    name: "perennial_signups_total",
    help: "Stored sign-ups: joined entries are new, repeated ones were on the list.",
    labelNames: ["outcome"],
    registers,
  });
  const flagged = new Counter({
    name: "perennial_signups_flagged_total",
    help: "Flagged sign-ups among perennial_signups_total, by flag.",
    labelNames: ["flag"],
    registers,
  });
  const count: OnStored = (entries, inserted) => {
    signups.inc({ outcome: "joined" }, inserted);
    signups.inc({ outcome: "repeated" }, entries.length - inserted);
    for (const flag of flags) flagged.inc({ flag }, entries.filter((entry) => entry[flag]).length);
  };
  count([], 0);
  return count;
}

/** Adds the pool's gauges before readiness, whose own probe takes a connection. */
function addGauges(registry: Registry, { pool, isReady }: Sources) {
  const connections = new Gauge({
    name: "perennial_database_connections",
    help: "Connections of the pool to Postgres.",
    labelNames: ["state"],
    registers: [registry],
    collect: () => {
      connections.set({ state: "idle" }, pool.idleCount);
      connections.set({ state: "used" }, pool.totalCount - pool.idleCount);
    },
  });
  addGauge(registry, "perennial_database_connections_max", "The pool's maximum.", () => pool.options.max);
  addGauge(registry, "perennial_database_waiting", "Statements that wait for a connection.", () => pool.waitingCount);
  addGauge(registry, "perennial_ready", "1 if sign-ups can be stored, as /readyz says.", async () =>
    Number(await isReady()),
  );
}

export function addGauge(registry: Registry, name: string, help: string, read: () => number | Promise<number>): void {
  const gauge: Gauge = new Gauge({ name, help, registers: [registry], collect: async () => gauge.set(await read()) });
}

/** Labels come from closed sets: no visitor can add one, or leave an address in one. */
const named = new Set(["/", signupPath, confirmPath, leavePath, viewPath, "/healthz", "/readyz"]);
const methods = new Set(["GET", "HEAD", "POST"]);

/** Returns the path of a named route, and for any other path the kind of its response. */
function routeOf(path: string, status: number): string {
  if (named.has(path)) return path;
  if (status === 404) return "not found";
  if (status >= 400) return "other";
  return path.startsWith("/assets/") ? "asset" : "file";
}

/** Serves GET /metrics until the process ends. The internet must not reach the port. */
export async function serveMetrics(
  registry: Registry,
  host: string,
  port: number,
  setting = "METRICS_PORT",
): Promise<void> {
  const server = createServer((req, res) => {
    // A source that cannot be read does not end the site.
    sendMetrics(registry, req, res).catch(() => res.writeHead(500).end());
  });
  await listen(server, host, port, setting);
}

async function sendMetrics(registry: Registry, req: IncomingMessage, res: ServerResponse) {
  if (!isRead(req) || req.url?.split("?", 1)[0] !== "/metrics") {
    res.writeHead(404, { "Content-Type": "text/plain" }).end("There is only GET /metrics.\n");
    return;
  }
  const body = await registry.metrics();
  const headers = { "Content-Type": registry.contentType, "Cache-Control": "no-store" };
  res.writeHead(200, { ...headers, "Content-Length": Buffer.byteLength(body) }).end(body);
}
