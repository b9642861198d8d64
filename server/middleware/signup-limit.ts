// Limits sign-ups per client before anything is read or computed for them.
import type { RequestHandler } from "express";
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
    keyGenerator: (req) => ipKeyGenerator(req.ip ?? "", ipv6Subnet),
    handler: (_req, _res, next) => {
      next(new HttpError(429, "Too many sign-ups from this network. Wait as long as Retry-After says."));
    },
    // It would complain on stderr of a forged X-Forwarded-For, which "trust proxy" already ignores.
    validate: false,
  });
}
