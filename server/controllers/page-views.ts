// POST /api/view: counts a view of the landing page, which the page's script reports once the page is visible.
// What counts as a view: client/entry-client.ts. Its source: models/source.ts.
import type { Request, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import { sameOrigin } from "../middleware/same-origin.ts";
import { requirePost } from "../middleware/http-errors.ts";
import { clientLimit } from "../middleware/rate-limit.ts";
import type { PageViews } from "../models/page-views.ts";
import { viewSource } from "../models/source.ts";

/** Reads utm_source and the referrer's host from the query, and no body. Above a client's limit, the 204 is the same, but nothing counts. */
export function countViews(pageViews: PageViews, signupLimit: number, origin: string, log: Logger): RequestHandler[] {
  const { hostname } = new URL(origin);

  function count(req: Request, res: Response) {
    const host = (req.headers.host ?? "").replace(/:\d+$/, "");
    pageViews.add(viewSource(new URLSearchParams(req.url.split("?", 2)[1]), [hostname, host]));
    sendNoContent(req, res);
  }

  return [requirePost, sameOrigin(origin, log), ...clientLimit(signupLimit, "view", sendNoContent), count];
}

function sendNoContent(_req: Request, res: Response) {
  res.status(204).set("Cache-Control", "no-store").end();
}
