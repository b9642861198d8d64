// Refuses sign-ups that another site makes its visitors send.
import type { RequestHandler } from "express";
import { HttpError } from "../http-error.ts";

/** Ours are the public origin and whatever host the request was sent to; without both headers it is no browser. */
export function sameOrigin(publicUrl: string): RequestHandler {
  return function refuseCrossSite(req, _res, next) {
    const { origin } = req.headers;
    const ours = origin === undefined || origin === publicUrl || isHost(origin, req.host);
    if (req.headers["sec-fetch-site"] === "cross-site" || !ours) {
      throw new HttpError(403, "Sign-ups are accepted from this site's own pages only.");
    }
    next();
  };
}

function isHost(origin: string, host: string | undefined): boolean {
  return Boolean(host) && (origin === `http://${host}` || origin === `https://${host}`);
}
