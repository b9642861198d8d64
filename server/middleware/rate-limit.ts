// The limits of sign-ups, link posts and page views per client and network: multiples of SIGNUP_LIMIT.
import { isIP, isIPv4 } from "node:net";
import type { Request, RequestHandler } from "express";
import { ipKeyGenerator, MemoryStore, rateLimit, type ClientRateLimitInfo, type Store } from "express-rate-limit";
import { HttpError } from "./http-errors.ts";

export interface SignupLimits {
  limit: number;
  windowSeconds: number;
  /** Replicas share the store. Without one, each process counts in its own memory. */
  store?: ((name: string) => Store) | undefined;
}

/** Multiples of SIGNUP_LIMIT. A link post adds nothing to the list, and a mail provider sends the requests of many people. */
const factors = { signup: 1, link: 100, view: 1 };

/** Providers give a household up to a /56 of IPv6, and a company or a rented server up to a /48. */
const scopes = [
  { scope: "client", clients: 1, ipv6Prefix: 56 },
  { scope: "network", clients: 10, ipv6Prefix: 48 },
];

/**
 * Refuses with 429 a client above its limit, and a network (IPv4 /24, IPv6 /48) above ten times that.
 * Every request counts, also if its client hangs up. A request above the client's limit does not count for its network.
 */
export function clientLimit(
  { limit, windowSeconds, store }: SignupLimits,
  kind: keyof typeof factors,
  refuse = refuseTooMany,
): RequestHandler[] {
  return scopes.map(({ scope, clients, ipv6Prefix }) =>
    rateLimit({
      identifier: scope,
      limit: factors[kind] * clients * limit,
      windowMs: windowSeconds * 1000,
      store: store?.(`${kind}-${scope}`) ?? new BoundedMemoryStore(),
      passOnStoreError: true,
      logger: { warn: () => undefined, error: () => undefined }, // The Redis store logs once per outage.
      standardHeaders: "draft-8",
      legacyHeaders: false,
      keyGenerator: (req) => {
        const key = ipKeyGenerator(clientIp(req), ipv6Prefix);
        return scope === "network" && isIPv4(key) ? key.slice(0, key.lastIndexOf(".")) : key;
      },
      handler: refuse,
      // The checks print to stderr for a forged X-Forwarded-For, which "trust proxy" ignores.
      validate: false,
    }),
  );
}

const refuseTooMany: RequestHandler = () => {
  throw new HttpError(429, "Too many requests from this network. Wait as long as Retry-After says.");
};

/**
 * The clients that each limit counts. Sign-ups, link posts and page views have two limits each; at 250 bytes a client, all six take
 * 30 MB. An attacker with more networks has more limits anyway.
 */
const maxClients = 20_000;

/** Holds at most `maxClients`, and forgets those without a recent request first. */
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
function clientIp(req: Request): string {
  const given = req.ip ?? "";
  const ip = given.replace(/^\[(.+)\](?::\d+)?$/, "$1").replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
  return isIP(ip) > 0 ? ip : (req.socket.remoteAddress ?? "");
}
