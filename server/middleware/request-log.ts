// The log of requests: a line for each, with its id, and a warning if TRUST_PROXY is not the number of proxies.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { BlockList, isIPv4 } from "node:net";
import type { Logger } from "pino";
import { mayHoldEmail } from "../errors.ts";

/** In characters. Enough to recognise a path, and too short for a flood of 8 KB paths to fill the disk. */
const loggedPathLength = 200;

/** Called after each response is sent or aborted. */
export type OnResponse = (
  request: { method: string | undefined; path: string; status: number | "aborted"; seconds: number },
  res: ServerResponse,
) => void;

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
  const checkProxy = checkProxyCount(trustProxy, log);
  return function logRequest(req: IncomingMessage, res: ServerResponse): string {
    checkProxy(req);
    const started = performance.now();
    const { method, url = "", headers, socket } = req;
    const given = headers["x-request-id"];
    const id = trustProxy > 0 && typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
    const path = url.split("?", 1)[0] as string;
    const level = path === "/healthz" || path === "/readyz" ? "debug" : "info";
    res.on("close", () => {
      const exactMs = performance.now() - started;
      // Node also calls a response finished if its connection was cut off.
      const status = res.writableFinished && !socket.destroyed ? res.statusCode : "aborted";
      const loggedPath = mayHoldEmail(path) ? "[address]" : path.slice(0, loggedPathLength);
      log[level]({ id, method, path: loggedPath, status, ms: Math.round(exactMs) }, "request");
      onResponse?.({ method, path, status, seconds: exactMs / 1000 }, res);
    });
    return id;
  };
}

/** The number of requests that must all have more entries than TRUST_PROXY: a client can add entries to its own requests. */
const judgedRequests = 20;

/** Loopback, private and unique local addresses, and those that providers use between their own machines (RFC 6598). */
const privateNetworks = new BlockList();
for (const network of "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 ::1/128 fc00::/7".split(" ")) {
  const [ip = "", prefix] = network.split("/");
  privateNetworks.addSubnet(ip, Number(prefix), isIPv4(ip) ? "ipv4" : "ipv6");
}

/**
 * Returns a function that warns once if X-Forwarded-For has another number of entries than TRUST_PROXY. It cannot detect a CDN in
 * front of a proxy that overwrites the header. The warning proposes no number, because a client can provoke it.
 */
export function checkProxyCount(trustProxy: number, log: Logger): (req: IncomingMessage) => void {
  let judged = 0;
  let fewest = Infinity;
  let hasWarned = false;
  return function checkRequest({ headers, socket: { remoteAddress = "" } }) {
    const forwardedFor = headers["x-forwarded-for"];
    if (hasWarned || !forwardedFor) return;
    const entries = String(forwardedFor).split(",").length;
    fewest = Math.min(fewest, entries);
    judged++;
    const isTooHigh = entries < trustProxy;
    const comesFromProxy = () => privateNetworks.check(remoteAddress, isIPv4(remoteAddress) ? "ipv4" : "ipv6");
    const isTooLow = trustProxy === 0 ? comesFromProxy() : judged === judgedRequests && fewest > trustProxy;
    if (!isTooHigh && !isTooLow) return;
    hasWarned = true;
    const effect = isTooHigh ? "high: a client can forge its address" : "low: visitors share a limit";
    log.warn(
      `TRUST_PROXY (${trustProxy}) does not fit the entries of X-Forwarded-For (${fewest}). It is too ${effect}. Compare with docs/deploy.md, Hosts.`,
    );
  };
}
