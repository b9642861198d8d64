// The log of requests: a line for each, with its id, and a warning if TRUST_PROXY is not the number of proxies.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { mayHoldEmail } from "../text.ts";

/** Called after each response is sent or aborted. */
export type OnResponse = (path: string, status: number | "aborted") => void;

export interface RequestLogOptions {
  log: Logger;
  onResponse?: OnResponse | undefined;
  trustProxy: number;
}

/**
 * Returns a function that logs a request once its response is sent or aborted: no query, body, email or IP address. It returns
 * the request's id.
 */
export function createRequestLog({ log, onResponse, trustProxy }: RequestLogOptions) {
  let hasWarned = false;

  /** Warns once if TRUST_PROXY is 0 behind a proxy, or larger than the number of proxies that added an entry. */
  function checkProxies(entries: number) {
    if (hasWarned || (trustProxy > 0 && entries >= trustProxy)) return;
    hasWarned = true;
    const effect = trustProxy > 0 ? "a client can forge its address" : "behind a proxy, all visitors share one limit";
    log.warn(
      `TRUST_PROXY is ${trustProxy}, but X-Forwarded-For has ${entries} entries: ${effect}. Compare with docs/deploy.md, Hosts.`,
    );
  }

  return function logRequest(req: IncomingMessage, res: ServerResponse): string {
    const forwardedFor = req.headers["x-forwarded-for"];
    if (forwardedFor) checkProxies(String(forwardedFor).split(",").length);
    const started = performance.now();
    const { method, url = "", socket } = req;
    const id = randomUUID();
    const path = url.split("?", 1)[0] as string;
    const level = path === "/healthz" || path === "/readyz" ? "debug" : "info";
    res.on("close", () => {
      // Node also calls a response finished if its connection was cut off.
      const status = res.writableFinished && !socket.destroyed ? res.statusCode : "aborted";
      const ms = Math.round(performance.now() - started);
      log[level]({ id, method, path: mayHoldEmail(path) ? "[address]" : path, status, ms }, "request");
      onResponse?.(path, status);
    });
    return id;
  };
}
