// Limits sign-ups per client, before their bodies are checked or stored.
import { isIP } from "node:net";
import type { Request, RequestHandler } from "express";
import { ipKeyGenerator, rateLimit, type Store } from "express-rate-limit";
import type { Logger } from "pino";
import { HttpError } from "../http-error.ts";
import { SteadyStore } from "./steady-store.ts";

export interface SignupLimits {
  /** Sign-ups per client and window. */
  limit: number;
  windowSeconds: number;
  /** Sign-ups per hour over all clients; 0 for no ceiling. */
  hourlyCeiling: number;
  /** Where replicas count together; without it each counts in its own memory. */
  store?: (name: string) => Store;
}

/** Providers give a household up to a /56 of IPv6; a narrower subnet would be a limit that it can step around. */
const ipv6Subnet = 56;

/** Per client, and before anything is read: whatever a client sends here costs it one of its tries. */
export function signupLimit({ limit, windowSeconds, store }: SignupLimits): RequestHandler {
  return rateLimit({
    limit,
    windowMs: windowSeconds * 1000,
    store: store?.("client") ?? new SteadyStore(),
    standardHeaders: "draft-8",
    legacyHeaders: false,
    keyGenerator: (req) => ipKeyGenerator(clientAddress(req), ipv6Subnet),
    handler: (_req, _res, next) => {
      next(new HttpError(429, "Too many sign-ups from this network. Wait as long as Retry-After says."));
    },
    // It would complain on stderr of a forged X-Forwarded-For, which "trust proxy" already ignores.
    validate: false,
  });
}

/**
 * Over all clients, and of valid entries alone: against a crowd of addresses that each stay below their limit.
 * What the database refused is given back.
 */
export function signupCeiling({ hourlyCeiling, store }: SignupLimits, log: Logger): RequestHandler {
  if (hourlyCeiling === 0) return (_req, _res, next) => next();
  let saidUntil = 0;
  return rateLimit({
    limit: hourlyCeiling,
    windowMs: 3_600_000,
    store: store?.("everybody") ?? new SteadyStore(),
    keyGenerator: () => "everybody",
    skipFailedRequests: true,
    standardHeaders: false,
    legacyHeaders: false,
    requestPropertyName: "ceiling",
    handler: (req, res, next) => {
      res.locals.atCeiling = true; // Tells its 503 from that of a database which is away.
      const { resetTime } = (req as unknown as { ceiling: { resetTime: Date } }).ceiling;
      const seconds = Math.max(1, Math.ceil((resetTime.getTime() - Date.now()) / 1000));
      // Once an hour: whoever causes it could also fill the disk with it.
      if (performance.now() > saidUntil) {
        saidUntil = performance.now() + seconds * 1000;
        log.error({ ceiling: hourlyCeiling, seconds }, "the hourly ceiling of sign-ups is reached; more are refused");
      }
      const headers = { "Retry-After": String(seconds) };
      next(new HttpError(503, "There are more sign-ups than usual. Please try again later.", { headers }));
    },
    validate: false,
  });
}

/** Some proxies append the client's port, which changes with every connection; what is no address at all counts as the proxy. */
function clientAddress(req: Request): string {
  const given = req.ip ?? "";
  const address = given.replace(/^\[(.+)\](?::\d+)?$/, "$1").replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
  return isIP(address) > 0 ? address : (req.socket.remoteAddress ?? "");
}
