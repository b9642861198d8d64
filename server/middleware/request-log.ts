// The log of requests: a line for each, with its id, and warnings that tell whether TRUST_PROXY is the number of proxies.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { loggablePath } from "../errors.ts";

export interface RequestLogOptions {
  log: Logger;
  trustProxy: number;
}

const hourMs = 3_600_000;

/** The id of a proxy that operators follow through their logs. It has no "@", "." or "/", so it is no address and no path. */
const proxyId = /^[\w-]{1,64}$/;

/**
 * Returns a function that logs a request once its response is sent or aborted: no query, body, email or IP address, no secret of a
 * link. It returns the request's id.
 */
export function createRequestLog({ log, trustProxy }: RequestLogOptions) {
  let hasWarned = false;
  let nextReport = 0;

  /** Warns once if TRUST_PROXY is 0 behind a proxy, or larger than the number of proxies that added an entry. */
  function checkProxies(entries: number) {
    if (hasWarned || (trustProxy > 0 && entries >= trustProxy)) return;
    hasWarned = true;
    const effect = trustProxy > 0 ? "a client can forge its address" : "behind a proxy, all visitors share one limit";
    log.warn(
      `TRUST_PROXY is ${trustProxy}, but X-Forwarded-For has ${entries} entries: ${effect}. Compare with docs/deploy.md, Hosts.`,
    );
  }

  /** Reports the first 429 of an hour, of any client: behind a CDN and a proxy with TRUST_PROXY=1, all visitors share a limit. */
  function reportRefusal(entries: number) {
    const now = performance.now();
    if (now < nextReport) return;
    nextReport = now + hourMs;
    log.warn(
      `TRUST_PROXY is ${trustProxy}, and X-Forwarded-For has ${entries} entries at the first 429 of this hour. See docs/incident.md.`,
    );
  }

  /** Without a trusted proxy, a client could choose the id. */
  function findId(given: string | string[] | undefined): string {
    return trustProxy > 0 && typeof given === "string" && proxyId.test(given) ? given : randomUUID();
  }

  return function logRequest(req: IncomingMessage, res: ServerResponse): string {
    const started = performance.now();
    const { method, url = "", headers, socket } = req;
    const forwardedFor = headers["x-forwarded-for"];
    const entries = forwardedFor ? String(forwardedFor).split(",").length : 0;
    if (entries > 0) checkProxies(entries);
    const id = findId(headers["x-request-id"]);
    const path = url.split("?", 1)[0] as string;
    const level = path === "/healthz" || path === "/readyz" ? "debug" : "info";
    res.on("close", () => {
      // Node also calls a response finished if its connection was cut off.
      const status = res.writableFinished && !socket.destroyed ? res.statusCode : "aborted";
      const ms = Math.round(performance.now() - started);
      log[level]({ id, method, path: loggablePath(path), status, ms }, "request");
      if (status === 429) reportRefusal(entries);
    });
    return id;
  };
}
