// The rate limiter of sign-ups, per client and per network.
import { isIP, isIPv4 } from "node:net";
import type { Request, RequestHandler } from "express";
import { ipKeyGenerator, rateLimit, type Store } from "express-rate-limit";
import { HttpError } from "../http/http-error.ts";
import { MonotonicStore } from "./monotonic-store.ts";

export interface SignupLimits {
  /** Sign-ups per client and window. */
  limit: number;
  windowSeconds: number;
  /** Creates a store that replicas share; without it each process counts in its own memory. */
  store?: ((name: string) => Store) | undefined;
}

/** The limit of a network, in limits of a client. */
const clientsPerNetwork = 10;

/** Providers give a household up to a /56 of IPv6, and a company or a rented server up to a /48. */
const ipv6Prefix = { client: 56, network: 48 };

/**
 * Refuses with 429 a client above its limit, and a network (IPv4 /24, IPv6 /48) above ten times that.
 * Every request counts, also if its client hangs up. A request above the client's limit does not count for its network.
 * @param prefix of the names of its stores, for a limit of other requests.
 */
export function signupLimit(limits: SignupLimits, prefix = ""): RequestHandler[] {
  const create = (scope: keyof typeof ipv6Prefix, limit: number) => limiter(scope, limits, limit, prefix);
  return [create("client", limits.limit), create("network", clientsPerNetwork * limits.limit)];
}

/** Created once: its stack would be a tenth of the cost of each refused request. */
const tooMany = new HttpError(429, "Too many requests from this network. Wait as long as Retry-After says.");

function limiter(
  scope: keyof typeof ipv6Prefix,
  { windowSeconds, store }: SignupLimits,
  limit: number,
  prefix: string,
) {
  return rateLimit({
    identifier: scope,
    limit,
    windowMs: windowSeconds * 1000,
    store: store?.(prefix + scope) ?? new MonotonicStore(),
    standardHeaders: "draft-8",
    legacyHeaders: false,
    keyGenerator: (req) => keyOf(clientAddress(req), scope),
    handler: (_req, _res, next) => next(tooMany),
    // The checks print to stderr for a forged X-Forwarded-For, which "trust proxy" ignores.
    validate: false,
  });
}

function keyOf(address: string, scope: keyof typeof ipv6Prefix): string {
  const key = ipKeyGenerator(address, ipv6Prefix[scope]);
  return scope === "network" && isIPv4(key) ? key.slice(0, key.lastIndexOf(".")) : key;
}

/** Some proxies append the client's port, which changes with every connection. If the header holds no valid IP address, use the socket's. */
function clientAddress(req: Request): string {
  const given = req.ip ?? "";
  const address = given.replace(/^\[(.+)\](?::\d+)?$/, "$1").replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
  return isIP(address) > 0 ? address : (req.socket.remoteAddress ?? "");
}
