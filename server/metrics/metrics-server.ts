// GET /metrics for Prometheus, on a port of its own that the internet must not reach.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import { isRead } from "../http-method.ts";
import { listen } from "../http-server.ts";

/**
 * @returns what stops it.
 * @throws OperatorError where the address cannot be had.
 */
export async function serveMetrics(registry: Registry, host: string, port: number): Promise<() => Promise<void>> {
  const server = createServer((req, res) => {
    // Whatever cannot be read, the site goes on.
    answer(registry, req, res).catch(() => res.writeHead(500).end());
  });
  await listen(server, host, port, "METRICS_PORT");
  return async () => {
    const closed = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await closed;
  };
}

async function answer(registry: Registry, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (!isRead(req) || req.url?.split("?", 1)[0] !== "/metrics") {
    res.writeHead(404, { "Content-Type": "text/plain" }).end("Only GET /metrics is here.\n");
    return;
  }
  const body = await registry.metrics();
  const headers = { "Content-Type": registry.contentType, "Cache-Control": "no-store" };
  res.writeHead(200, { ...headers, "Content-Length": Buffer.byteLength(body) }).end(body);
}
