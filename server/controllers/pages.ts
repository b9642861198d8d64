// GET: pages and files from memory, and pages that are rendered for the request.
// Which path is a 404, and the status of each page: client/routes.tsx. Its Cache-Control: views/page-cache.ts.
import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { sendCached, type CachedResponse } from "../http/cached-response.ts";
import { isRead } from "../http/negotiation.ts";
import { methodNotAllowed } from "../middleware/http-errors.ts";
import type { Frontend } from "../views/frontend.ts";

/** Returns undefined if Express must handle the request. */
export function findCached({ url = "" }: IncomingMessage, frontend: Frontend): CachedResponse | undefined {
  const [path, query] = url.split("?", 2) as [string, string | undefined];
  return frontend.findPrerendered(path, query ?? "") ?? frontend.files.get(path);
}

/** Sends the page of the URL, which is the 404 page for an unknown path and any method. */
export function pages({ findPage, getPage }: Frontend): RequestHandler {
  return async function sendPage(req, res) {
    const id = await findPage(req.path, req.url.split("?", 2)[1] ?? "");
    if (id !== "*" && !isRead(req)) throw methodNotAllowed("GET, HEAD");
    sendCached(req, res, await getPage(id));
  };
}
