// The refusal of cross-site requests.
import type { RequestHandler } from "express";
import { HttpError } from "./http-errors.ts";

/**
 * Refuses with 403 a request whose Sec-Fetch-Site is cross-site, or whose Origin is neither the public origin nor the request's
 * own host. A request without both headers comes from no browser, and passes.
 */
export function sameOrigin(publicOrigin: string): RequestHandler {
  return function refuseCrossSite(req, _res, next) {
    const { origin } = req.headers;
    const ours = [undefined, publicOrigin, `http://${req.host}`, `https://${req.host}`].includes(origin);
    if (req.headers["sec-fetch-site"] === "cross-site" || !ours) {
      throw new HttpError(403, "Requests are accepted from this site's own pages only.");
    }
    next();
  };
}
