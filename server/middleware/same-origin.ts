// Protection against cross-site sign-ups and page views.
import type { RequestHandler } from "express";
import { HttpError } from "../http/http-error.ts";

/**
 * Refuses with 403 a request from another origin than the public one and the host that the request names. A request
 * without Origin and Sec-Fetch-Site comes from no browser and passes.
 */
export function sameOrigin(publicUrl: string, what = "Sign-ups"): RequestHandler {
  return function refuseCrossSite(req, _res, next) {
    const { origin } = req.headers;
    const ours = origin === undefined || origin === publicUrl || isHost(origin, req.host);
    if (req.headers["sec-fetch-site"] === "cross-site" || !ours) {
      throw new HttpError(403, `${what} are accepted from this site's own pages only.`);
    }
    next();
  };
}

function isHost(origin: string, host: string | undefined): boolean {
  return Boolean(host) && (origin === `http://${host}` || origin === `https://${host}`);
}
