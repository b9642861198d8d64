// GET: pages and files from memory, and pages that are rendered for the request.
import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { sendCached, type CachedResponse } from "../http/cached-response.ts";
import { requireRead } from "../middleware/http-errors.ts";
import type { Frontend } from "../views/frontend.ts";

/** Returns undefined if Express must handle the request. */
export function findCached({ url = "" }: IncomingMessage, frontend: Frontend): CachedResponse | undefined {
  const [path, query] = url.split("?", 2) as [string, string | undefined];
  return frontend.findPrerendered(path, query ?? "") ?? frontend.files.get(path);
}

/** Sends the page of the URL, which is the 404 page for an unknown path and any method. */
export function pages({ findPage, getPage, files }: Frontend): RequestHandler {
  return async function sendPage(req, res) {
    const id = await findPage(req.path, req.url.split("?", 2)[1] ?? "");
    if (id || files.has(req.path)) requireRead(req);
    sendCached(req, res, await getPage(id ?? "notFound"));
  };
}
