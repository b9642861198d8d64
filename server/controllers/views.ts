// Page views: counts the loads of the landing page, or POST /api/view, which the page's script sends behind a CDN.
import type { IncomingMessage } from "node:http";
import { Router } from "express";
import { isbot } from "isbot";
import { viewPath } from "../../client/shared/addresses.ts";
import { methodNotAllowed } from "../http/http-error.ts";
import { sameOrigin } from "../middleware/same-origin.ts";
import type { PageViews } from "../models/page-views.ts";
import { readParameter, viewSource } from "../models/source.ts";

/** Called after a cached response was sent. */
export type CountView = (req: IncomingMessage) => void;

/** Returns the function that counts a browser's GET of the landing page. */
export function countPageViews(views: PageViews, origin: string): CountView {
  const add = createAdd(views, origin);
  return function countView(req) {
    const { method, url = "", headers } = req;
    const isLandingPage = method === "GET" && (url === "/" || url.startsWith("/?"));
    if (isLandingPage && headers.accept?.includes("text/html")) add(req, queryOf(url), headers.referer);
  };
}

/** Counts a view by its beacon, whose query has utm_source and the host of the referrer. The body is not read. */
export function viewBeacon(views: PageViews, origin: string): Router {
  const add = createAdd(views, origin);
  const router = Router({ caseSensitive: true, strict: true });
  router.post(viewPath, sameOrigin(origin, "Page views"), (req, res) => {
    const query = queryOf(req.url);
    add(req, query, readParameter(query, "referrer"));
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

/** In characters. Browsers send up to 500; isbot takes 20 µs for 8,000 (Node 20). */
const longestAgent = 1_000;

/** The results of isbot. The cache is cleared when clients send more values: 500 KB at most. */
const bots = new Map<string, boolean>();
const cacheSize = 500;

/** Returns whether the client is a known bot, names no browser, or prefetches or prerenders the page. */
function isAutomated({ headers }: IncomingMessage): boolean {
  const purposes = [headers["sec-purpose"], headers.purpose, headers["x-moz"]];
  if (purposes.some((purpose) => purpose && /prefetch|prerender/i.test(String(purpose)))) return true;
  const agent = headers["user-agent"];
  if (!agent || agent.length > longestAgent) return true;
  const known = bots.get(agent);
  if (known !== undefined) return known;
  if (bots.size >= cacheSize) bots.clear();
  const isBot = isbot(agent);
  bots.set(agent, isBot);
  return isBot;
}
