// The pages: those that are the same for everybody kept ready, those with a visitor's input rendered for that request.
import type { Request, RequestHandler, Response } from "express";
import { unknownAddress } from "../../client/addresses.ts";
import type { FormFailure } from "../../client/page-data.ts";
import { isRead } from "../http-method.ts";
import type { Renderer } from "../views/renderer.ts";
import { compress, storeResponse, type FindStored, type StoredResponse } from "../views/stored-response.ts";

/** What the error middleware answers with, where a visitor and not a program is to read it. */
export interface ErrorPages {
  /** The landing page with the failure, what was typed and the status that the response already has. */
  sendFormFailure(req: Request, res: Response, failure: FormFailure): Promise<void>;
  /** The page for a fault of ours, with the status that the response already has. */
  sendError(req: Request, res: Response): void;
}

/** Browsers ask each time; a CDN keeps a page for a minute. */
const kept = { "Cache-Control": "public, max-age=0, s-maxage=60" };
/** For a CDN that knows RFC 9213: s-maxage forbids it to use an old copy, also while this server does not answer. */
const keptByCdn = { "CDN-Cache-Control": "max-age=60, stale-while-revalidate=60, stale-if-error=86400" };
/** An address that is unknown to one replica may be the new file of another one, which is being deployed. */
const asked = { "Cache-Control": "public, max-age=0, must-revalidate" };

/** Renders the pages once, now: a build that cannot render one never starts to serve. */
export async function storePages(
  renderer: Renderer,
  addresses: string[],
  addressOf: (path: string, query: string) => string,
): Promise<FindStored> {
  const stored = new Map<string, StoredResponse>();
  await Promise.all(
    addresses.map(async (address) => {
      const { status, html } = await renderer.page(address);
      const bodies = await compress(Buffer.from(html));
      const caching = status === 200 ? { ...kept, ...keptByCdn } : asked;
      stored.set(address, storeResponse(bodies, status, { "Content-Type": "text/html; charset=utf-8", ...caching }));
    }),
  );
  return (path, query) => stored.get(addressOf(path, query));
}

/** Renders every page for every request: for development, where the sources change between two. */
export function livePages(renderer: Renderer): RequestHandler {
  return async function sendLivePage(req, res, next) {
    const address = await renderer.addressOf(req.path, req.url.split("?", 2)[1] ?? "");
    if (!isRead(req) && address !== unknownAddress) return next();
    const { status, html } = await renderer.page(address);
    res.status(status).set("Cache-Control", "no-store").type("html").send(html);
  };
}

export async function createErrorPages(renderer: Renderer): Promise<ErrorPages> {
  const error = await renderer.errorPage();
  return {
    async sendFormFailure(_req, res, failure) {
      const { html } = await renderer.page("/", failure);
      res.type("html").send(html);
    },
    sendError(_req, res) {
      res.type("html").send(error.html);
    },
  };
}
