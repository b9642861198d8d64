// What the site counts for Prometheus. Imported only where it is switched on: the library costs memory and time.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { signupPath } from "../../client/addresses.ts";
import type { Pool } from "../database/connect.ts";
import type { Answered } from "../middleware/request-log.ts";
import type { Stored } from "../models/waitlist.ts";
import { flags } from "../models/waitlist-entry.ts";
import { serveMetrics } from "./metrics-server.ts";
import { methodOf, refusalOf, refusals, routeOf, type Refusal } from "./labels.ts";

export interface Metrics {
  countAnswer: Answered;
  countStored: Stored;
  /**
   * Answers GET /metrics at the address.
   * @returns what stops it.
   * @throws OperatorError where the address cannot be had.
   */
  serve(host: string, port: number, watched: Watched): Promise<() => Promise<void>>;
}

/** What is looked at when somebody asks for the metrics. */
interface Watched {
  pool: Pool;
  isReady: () => Promise<boolean>;
}

/** Stored pages take a tenth of a millisecond, sign-ups a few, and none more than five seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/** Gauges of the library with the name of a counter, which promtool complains of. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry }); // Event loop lag, processor time, memory, open files.
  for (const name of misnamed) registry.removeSingleMetric(name);
  return {
    countAnswer: countAnswers([registry]),
    countStored: countSignups([registry]),
    serve: (host, port, watched) => {
      watch(registry, watched);
      return serveMetrics(registry, host, port);
    },
  };
}

function countAnswers(registers: Registry[]): Answered {
  const requests = new Counter({
    name: "http_requests_total",
    help: "Requests by what they asked for; status aborted: the client left before its answer was sent.",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "From the request's headers to the end of the answer, or until the client left.",
    labelNames: ["route"],
    buckets,
    registers,
  });
  const refused = new Counter({
    name: "perennial_signups_refused_total",
    help: "Sign-ups that were not stored, by reason.",
    labelNames: ["reason"],
    registers,
  });
  const refuse = (reason: Refusal, count: number) => refused.inc({ reason }, count);
  // Known from the start: a rate sees no first event of a series that begins with it.
  for (const reason of refusals) refuse(reason, 0);
  return function countAnswer({ method, path, status, seconds }, res) {
    const route = routeOf(path, res.statusCode);
    requests.inc({ method: methodOf(method), route, status });
    durations.observe({ route }, seconds);
    const reason = method === "POST" && path === signupPath ? refusalOf(res) : undefined;
    if (reason) refuse(reason, 1);
  };
}

function countSignups(registers: Registry[]): Stored {
  const signups = new Counter({
    name: "perennial_signups_total",
    help: "Sign-ups that were told they are on the list: joined are new, repeated were on it already.",
    labelNames: ["outcome"],
    registers,
  });
  const flagged = new Counter({
    name: "perennial_signups_flagged_total",
    help: "Those of perennial_signups_total that are flagged, by flag.",
    labelNames: ["flag"],
    registers,
  });
  function countStored(entries: Parameters<Stored>[0], inserted: number) {
    signups.inc({ outcome: "joined" }, inserted);
    signups.inc({ outcome: "repeated" }, entries.length - inserted);
    for (const flag of flags) {
      flagged.inc({ flag }, entries.filter((entry) => entry[flag]).length);
    }
  }
  countStored([], 0); // As above: known from the start.
  return countStored;
}

/** Adds what is looked up at each reading: the pool before readiness, whose own look takes a connection. */
function watch(registry: Registry, { pool, isReady }: Watched): void {
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
  gauge(registry, "perennial_database_connections_max", "As many may the pool have.", () => pool.options.max);
  gauge(registry, "perennial_database_waiting", "Statements that wait for a connection.", () => pool.waitingCount);
  gauge(registry, "perennial_ready", "1 where sign-ups can be stored, as /readyz says.", async () =>
    Number(await isReady()),
  );
}

function gauge(registry: Registry, name: string, help: string, read: () => number | Promise<number>): void {
  const metric: Gauge = new Gauge({ name, help, registers: [registry], collect: async () => metric.set(await read()) });
}
