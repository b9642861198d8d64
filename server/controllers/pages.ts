// Static files and pages: cached ones from memory, every other page rendered for the request.
import type { RequestHandler } from "express";
import { unknownAddress } from "../../client/addresses.ts";
import { sendCached, type Cache } from "../http/cached-response.ts";
import { requireRead } from "../http/method.ts";
import type { FindPage } from "../views/prerendered-pages.ts";
import type { Renderer } from "../views/renderer.ts";
import type { CountView } from "./views.ts";

/** Sends a file from memory. */
export function staticFiles(files: Cache): RequestHandler {
  return function sendFile(req, res, next) {
    const file = files.get(req.path);
    if (!file) return next();
    requireRead(req);
    sendCached(req, res, file);
  };
}

/** Sends the page of the matched route, which is the 404 page for an unknown path and any method. */
export function pages(renderer: Renderer, findPage: FindPage, countView?: CountView): RequestHandler {
  return async function sendPage(req, res) {
    const address = await renderer.addressOf(req.path, req.url.split("?", 2)[1] ?? "");
    if (address !== unknownAddress) requireRead(req);
    sendCached(req, res, await findPage(address));
    if (address === "/") countView?.(req);
  };
}
