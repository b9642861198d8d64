// Limits sign-ups per client, before their bodies are checked or stored.
import { isIP } from "node:net";
import type { Request, RequestHandler } from "express";
import { ipKeyGenerator, rateLimit } from "express-rate-limit";
import { HttpError } from "../http-error.ts";

/** Providers give a household up to a /56 of IPv6; a narrower subnet would be a limit that it can step around. */
const ipv6Subnet = 56;

export function signupLimit({ limit, windowSeconds }: { limit: number; windowSeconds: number }): RequestHandler {
  return rateLimit({
    limit,
    windowMs: windowSeconds * 1000,
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

/** Some proxies append the client's port, which changes with every connection; what is no address at all counts as the proxy. */
function clientAddress(req: Request): string {
  const given = req.ip ?? "";
  const address = given.replace(/^\[(.+)\](?::\d+)?$/, "$1").replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
  return isIP(address) > 0 ? address : (req.socket.remoteAddress ?? "");
}
