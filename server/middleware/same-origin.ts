// The refusal of cross-site requests.
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { loggable } from "../errors.ts";
import { HttpError } from "./http-errors.ts";

/**
 * Refuses with 403 a request whose Sec-Fetch-Site is cross-site, or whose Origin is neither the public origin nor the request's own
 * host. Origin does not count if Sec-Fetch-Site is same-origin, which no page can forge: a proxy may have changed Host, or hidden
 * Origin with its Referrer-Policy. A request without both headers comes from no browser, and passes.
 */
export function sameOrigin(publicOrigin: string, log: Logger): RequestHandler {
  return function refuseCrossSite(req, res, next) {
    const { origin, host, "sec-fetch-site": site } = req.headers;
    const ours = [undefined, publicOrigin, `http://${req.host}`, `https://${req.host}`].includes(origin);
    if (site === "same-origin" || (ours && site !== "cross-site")) return next();
    const id = res.getHeader("X-Request-Id");
    const sent = { origin: loggable(origin), host: loggable(host) };
    log.warn({ id, ...sent }, "refused: the request comes from neither PUBLIC_URL nor its host");
    throw new HttpError(403, "Requests are accepted from this site's own pages only.");
  };
}
