// GET: pages and files from memory, and pages that are rendered for the request.
import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { landingState, unknownPath } from "../../client/shared/paths.ts";
import { sendCached, type Cache, type CachedResponse } from "../http/cached-response.ts";
import { requireRead } from "../http/http-error.ts";
import type { Frontend } from "../views/frontend.ts";

/**
 * Returns the prerendered page or the file of the request's path, or undefined if Express must handle the request. A query has an
 * effect only if it holds a state of the landing page.
 */
export function findCached(
  { url = "" }: IncomingMessage,
  prerendered: Cache,
  files: Cache,
): CachedResponse | undefined {
  const [path, query] = url.split("?", 2) as [string, string | undefined];
  if (path === "/" && query !== undefined && landingState(query) !== "form") return undefined;
  return prerendered.get(path) ?? files.get(path);
}

/** Sends the page of the matched route, which is the 404 page for an unknown path and any method. */
export function pages({ pagePath, renderPage, files }: Frontend): RequestHandler {
  return async function sendPage(req, res) {
    const path = await pagePath(req.path, req.url.split("?", 2)[1] ?? "");
    if (path !== unknownPath || files.has(req.path)) requireRead(req);
    sendCached(req, res, await renderPage(path));
  };
}
