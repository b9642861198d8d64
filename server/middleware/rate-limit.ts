// The limits (SIGNUP_LIMIT in config.ts) of sign-ups, link posts and page views per client and network, and the warning of an unknown proxy.
import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv4 } from "node:net";
import type { Request, RequestHandler } from "express";
import { ipKeyGenerator, MemoryStore, rateLimit, type ClientRateLimitInfo, type Store } from "express-rate-limit";
import type { Logger } from "pino";
import { HttpError } from "../http/http-error.ts";

export interface SignupLimits {
  limit: number;
  windowSeconds: number;
  /** Replicas share it; without it each process counts in its own memory. */
  store?: ((name: string) => Store) | undefined;
}

/** Multiples of SIGNUP_LIMIT. A link post adds nothing to the list, and a mail provider sends the requests of many people. */
const factors = { signup: 1, link: 100, view: 1 };

/** Providers give a household up to a /56 of IPv6, and a company or a rented server up to a /48. */
const scopes = [
  { scope: "client", factor: 1, ipv6Prefix: 56 },
  { scope: "network", factor: 10, ipv6Prefix: 48 },
];

/**
 * Refuses with 429 a client above its limit, and a network (IPv4 /24, IPv6 /48) above ten times that.
 * Every request counts, also if its client hangs up. A request above the client's limit does not count for its network.
 * @param requests with a count and a limit of their own.
 */
export function clientLimit(
  { limit, windowSeconds, store }: SignupLimits,
  requests: keyof typeof factors,
  refuse = refuseTooMany,
): RequestHandler[] {
  return scopes.map(({ scope, factor, ipv6Prefix }) =>
    rateLimit({
      identifier: scope,
      limit: factors[requests] * factor * limit,
      windowMs: windowSeconds * 1000,
      store: store?.(`${requests}-${scope}`) ?? new BoundedMemoryStore(),
      passOnStoreError: true,
      logger: { warn: () => undefined, error: () => undefined }, // The store of Redis logs by itself, once per outage.
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
 * Of each limit. Sign-ups, link posts and page views have two each: at about 250 bytes a client, six full limits take 30 MB. An
 * attacker with more networks has as many limits anyway.
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

/** Loopback, private and unique local addresses, and those that providers use between their own machines (RFC 6598). */
const privateNetworks = new BlockList();
for (const network of "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 ::1/128 fc00::/7".split(" ")) {
  const [ip = "", prefix] = network.split("/");
  privateNetworks.addSubnet(ip, Number(prefix), isIPv4(ip) ? "ipv4" : "ipv6");
}

/**
 * Returns a function that warns once if a request with X-Forwarded-For comes from a private address: that is a proxy, and
 * without TRUST_PROXY all its visitors share one limit.
 */
export function warnOfProxy(log: Logger): (req: IncomingMessage) => void {
  let hasWarned = false;
  return function checkProxy(req) {
    if (hasWarned || !req.headers["x-forwarded-for"]) return;
    const { remoteAddress = "" } = req.socket;
    hasWarned = privateNetworks.check(remoteAddress, isIPv4(remoteAddress) ? "ipv4" : "ipv6");
    if (hasWarned) log.warn(proxyWarning);
  };
}

const proxyWarning =
  "a proxy is in front of the site, but TRUST_PROXY is 0: all visitors share one limit. Set it to the number of proxies, for example TRUST_PROXY=1";
