// Page views: counts the loads of the landing page, or POST /api/view, which the page's script sends behind a CDN.
import type { IncomingMessage } from "node:http";
import { Router } from "express";
import { viewPath } from "../../client/addresses.ts";
import { isAutomated } from "../http/automated.ts";
import { methodNotAllowed } from "../http/method.ts";
import { canDiscardBody } from "../middleware/body.ts";
import { sameOrigin } from "../middleware/same-origin.ts";
import type { PageViews } from "../models/page-views.ts";
import { readParameter, viewSource } from "../models/source.ts";

/** Called after the landing page was sent. */
export type CountView = (req: IncomingMessage) => void;

/** Returns the function that counts a GET of a browser. */
export function countPageViews(views: PageViews, origin: string): CountView {
  const add = createAdd(views, origin);
  return function countView(req) {
    const { method, url, headers } = req;
    if (method === "GET" && headers.accept?.includes("text/html")) add(req, queryOf(url), headers.referer);
  };
}

/** Counts a view by its beacon, whose query has utm_source and the host of the referrer. The body is not read. */
export function viewBeacon(views: PageViews, origin: string): Router {
  const add = createAdd(views, origin);
  const router = Router({ caseSensitive: true, strict: true });
  router.post(viewPath, sameOrigin(origin, "Page views"), (req, res) => {
    const query = queryOf(req.url);
    add(req, query, readParameter(query, "referrer"));
    if (!canDiscardBody(req)) res.set("Connection", "close");
    res.status(204).set("Cache-Control", "no-store").end();
  });
  router.all(viewPath, () => {
    throw methodNotAllowed("POST");
  });
  return router;
}

/** A referrer on this site, by PUBLIC_URL or the Host header, counts as direct. */
function createAdd(views: PageViews, origin: string) {
  const { hostname } = new URL(origin);
  return function addView(req: IncomingMessage, query: string, referrer: string | undefined): void {
    const host = (req.headers.host ?? "").replace(/:\d+$/, "");
    if (!isAutomated(req)) views.add(viewSource(query, referrer, [hostname, host]));
  };
}

const queryOf = (url = "") => url.split("?", 2)[1] ?? "";
