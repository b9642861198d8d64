// The site's Prometheus metrics and their server. Loaded only if METRICS_PORT is set: the library costs memory and start-up time.
import { createServer } from "node:http";
import { collectDefaultMetrics, Counter, Gauge, Registry } from "prom-client";
import { confirmPath, leavePath, signupPath, viewPath } from "../client/shared/paths.ts";
import { listen } from "./http/listen.ts";
import type { OnResponse } from "./middleware/request-log.ts";
import type { OnStored } from "./models/waitlist.ts";

/** Labels come from closed sets: no visitor can add one, or leave an address in one. */
const routes = new Set(["/", signupPath, confirmPath, leavePath, viewPath, "/healthz", "/readyz"]);

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "http_requests_total",
    help: "Requests by route and status; aborted: the client disconnected before the response was sent.",
    labelNames: ["route", "status"],
    registers: [registry],
  });
  const signups = new Counter({
    name: "perennial_signups_total",
    help: "Stored sign-ups: added entries are new, repeated ones were on the list.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // Start the series of alerts at 0: rate() misses an event that begins a series.
  for (const status of [500, 503]) requests.inc({ route: signupPath, status }, 0);

  const onResponse: OnResponse = (path, status) => requests.inc({ route: routes.has(path) ? path : "other", status });
  const onStored: OnStored = (entries, inserted) => {
    signups.inc({ outcome: "added" }, inserted);
    signups.inc({ outcome: "repeated" }, entries.length - inserted);
  };

  /** Serves GET /metrics until the process ends. The internet must not reach the port. */
  async function serve(host: string, port: number, isReady: () => Promise<boolean>) {
    const ready: Gauge = new Gauge({
      name: "perennial_ready",
      help: "1 if sign-ups can be stored, as /readyz says.",
      registers: [registry],
      collect: async () => ready.set(Number(await isReady())),
    });
    const server = createServer(async (req, res) => {
      if (req.url !== "/metrics") res.writeHead(404).end("There is only /metrics.\n");
      else res.setHeader("Content-Type", registry.contentType).end(await registry.metrics());
    });
    await listen(server, host, port, "METRICS_PORT");
  }

  return { onResponse, onStored, serve };
}
