// GET: pages and files from memory, pages that are rendered for the request, and the probes.
import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { joinedQuery, undoneQuery, unknownAddress } from "../../client/shared/addresses.ts";
import { sendCached, type Cache, type CachedResponse } from "../http/cached-response.ts";
import { requireRead } from "../http/http-error.ts";
import { isRead } from "../http/negotiation.ts";
import type { Frontend } from "../views/frontend.ts";

/** The landing page after a sign-up or its undo. Every other query, such as ?utm_source=x, has no effect on a cached response. */
const stateAddress = new RegExp(`^/\\?(?:.*&)?(?:${joinedQuery}|${undoneQuery})(?:[=&]|$)`);

/** Returns the prerendered page or the file of the request's path, or undefined if Express must handle the request. */
export function findCached(req: IncomingMessage, prerendered: Cache, files: Cache): CachedResponse | undefined {
  const { url = "" } = req;
  if (!isRead(req) || stateAddress.test(url)) return undefined;
  const path = url.split("?", 1)[0] as string;
  return prerendered.get(path) ?? files.get(path);
}

/** Sends the page of the matched route, which is the 404 page for an unknown path and any method. */
export function pages({ renderer, findPage, files }: Frontend): RequestHandler {
  return async function sendPage(req, res) {
    const address = await renderer.addressOf(req.path, req.url.split("?", 2)[1] ?? "");
    if (address !== unknownAddress || files.has(req.path)) requireRead(req);
    sendCached(req, res, await findPage(address));
  };
}

/** /healthz: the process answers. */
export const live: RequestHandler = (req, res) => {
  requireRead(req);
  res.set("Cache-Control", "no-store").json({ status: "ok" });
};

/** /readyz: sign-ups can be stored. */
export function ready(isReady: () => Promise<boolean>): RequestHandler {
  return async function sendReadiness(req, res) {
    requireRead(req);
    const ok = await isReady();
    res.set("Cache-Control", "no-store").status(ok ? 200 : 503);
    res.json({ status: ok ? "ok" : "database unavailable" });
  };
}
