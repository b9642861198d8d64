// The limit of sign-ups, link posts and page views per client, and the warning of a proxy that it does not know.
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Request, RequestHandler } from "express";
import { ipKeyGenerator, MemoryStore, rateLimit, type ClientRateLimitInfo, type Store } from "express-rate-limit";
import type { Logger } from "pino";
import { HttpError } from "../http/http-error.ts";

export interface SignupLimits {
  /** Sign-ups per client and window. */
  limit: number;
  windowSeconds: number;
  /** Creates a store that replicas share; without it each process counts in its own memory. */
  store?: ((name: string) => Store) | undefined;
}

/** In bits of an IPv6 address. Providers give a household up to a /56, and a company or a rented server up to a /48. */
const ipv6Prefix = 48;

/**
 * Refuses with 429 a client above its limit: an IPv4 address or an IPv6 /48. Every request counts, also if its client hangs up.
 * @param name of its store.
 * @param refuse responds to a request above the limit.
 */
export function clientLimit(
  { limit, windowSeconds, store }: SignupLimits,
  name = "client",
  refuse = refuseTooMany,
): RequestHandler {
  return rateLimit({
    identifier: "client",
    limit,
    windowMs: windowSeconds * 1000,
    store: store?.(name) ?? new BoundedMemoryStore(),
    passOnStoreError: true,
    logger: { warn: () => undefined, error: () => undefined }, // The store of Redis logs by itself, once per outage.
    standardHeaders: "draft-8",
    legacyHeaders: false,
    keyGenerator: (req) => ipKeyGenerator(clientAddress(req), ipv6Prefix),
    handler: refuse,
    // The checks print to stderr for a forged X-Forwarded-For, which "trust proxy" ignores.
    validate: false,
  });
}

/** Created once: its stack would be a tenth of the cost of each refused request. */
const tooMany = new HttpError(429, "Too many requests from this network. Wait as long as Retry-After says.");
const refuseTooMany: RequestHandler = (_req, _res, next) => next(tooMany);

/** At about 300 bytes each. An attacker with more networks has as many limits anyway. */
const maxClients = 100_000;

/** Holds at most 100,000 clients, and forgets those without a recent request first. */
export class BoundedMemoryStore extends MemoryStore {
  override increment(key: string): Promise<ClientRateLimitInfo> {
    // MemoryStore moves a client from `previous` to `current` with its next request.
    if (this.current.size >= maxClients / 2) {
      this.previous = this.current;
      this.current = new Map();
    }
    return super.increment(key);
  }
}

/** Some proxies append the client's port, which changes with every connection. If the header holds no valid IP address, use the socket's. */
function clientAddress(req: Request): string {
  const given = req.ip ?? "";
  const address = given.replace(/^\[(.+)\](?::\d+)?$/, "$1").replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
  return isIP(address) > 0 ? address : (req.socket.remoteAddress ?? "");
}

/** Returns a function that warns once if a request has X-Forwarded-For: without TRUST_PROXY, all visitors of a proxy share one limit. */
export function warnOfProxy(log: Logger): (req: IncomingMessage) => void {
  let hasWarned = false;
  return function checkProxy({ headers }) {
    if (hasWarned || !headers["x-forwarded-for"]) return;
    hasWarned = true;
    log.warn(
      "a request has X-Forwarded-For, but TRUST_PROXY is 0. If a proxy is in front of the site, all visitors share one limit: set TRUST_PROXY to the number of proxies, for example TRUST_PROXY=1",
    );
  };
}
