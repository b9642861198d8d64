// The server of GET /metrics for Prometheus. The internet must not reach its port.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import { isRead } from "../http/http-error.ts";
import { listen } from "../http/listen.ts";

/**
 * @returns a function that stops the server.
 * @throws OperatorError if the address cannot be used.
 */
export async function serveMetrics(
  registry: Registry,
  host: string,
  port: number,
  setting = "METRICS_PORT",
): Promise<() => Promise<void>> {
  const server = createServer((req, res) => {
    // A source that cannot be read does not end the site.
    sendMetrics(registry, req, res).catch(() => res.writeHead(500).end());
  });
  await listen(server, host, port, setting);
  return async () => {
    const closed = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await closed;
  };
}

async function sendMetrics(registry: Registry, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (!isRead(req) || req.url?.split("?", 1)[0] !== "/metrics") {
    res.writeHead(404, { "Content-Type": "text/plain" }).end("There is only GET /metrics.\n");
    return;
  }
  const body = await registry.metrics();
  const headers = { "Content-Type": registry.contentType, "Cache-Control": "no-store" };
  res.writeHead(200, { ...headers, "Content-Length": Buffer.byteLength(body) }).end(body);
}
