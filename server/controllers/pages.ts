// The pages: those that are the same for everybody kept ready, those with a visitor's input rendered for that request.
import type { Request, RequestHandler, Response } from "express";
import { unknownAddress } from "../../client/addresses.ts";
import type { FormFailure } from "../../client/page-data.ts";
import { isRead } from "../http-method.ts";
import type { RenderedDocument, Renderer } from "../views/renderer.ts";
import { compress, sendStored, storeResponse, type FindStored, type StoredResponse } from "../views/stored-response.ts";

/** What the error middleware sends to a client that prefers HTML. */
export interface ErrorPages {
  /** Sends the landing page with the failure. */
  sendFormFailure(req: Request, res: Response, failure: FormFailure): Promise<void>;
  /** Sends the page for a fault of the server. */
  sendError(req: Request, res: Response): void;
}

/** Pages rendered for one visitor that are not yet sent. Each takes 3 ms of the processor, and 60 KB until it is sent. */
const openPagesLimit = 10;

/** Browsers ask each time; a CDN keeps a page for a minute. */
const kept = { "Cache-Control": "public, max-age=0, s-maxage=60" };
/** For a CDN that knows RFC 9213: s-maxage forbids it to use an old copy, also while this server does not answer. */
const keptByCdn = { "CDN-Cache-Control": "max-age=60, stale-while-revalidate=60, stale-if-error=86400" };
/** An address that is unknown to one replica may be the new file of another one, which is being deployed. */
const asked = { "Cache-Control": "public, max-age=0, must-revalidate" };

const htmlType = { "Content-Type": "text/html; charset=utf-8" };

/** Renders the pages once, now: a build that cannot render one never starts to serve. */
export async function storePages(
  renderer: Renderer,
  addresses: string[],
  addressOf: (path: string, query: string) => string,
): Promise<FindStored> {
  const stored = new Map<string, StoredResponse>();
  await Promise.all(
    addresses.map(async (address) => {
      const page = await renderer.page(address);
      stored.set(address, await storePage(page, page.status === 200 ? { ...kept, ...keptByCdn } : asked));
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
  const uncached = { "Cache-Control": "no-store" };
  const error = await renderer.errorPage();
  // Not compressed: few clients ever get it, and the start would wait for it.
  const errorPage = storeResponse({ identity: Buffer.from(error.html) }, error.status, { ...htmlType, ...uncached });
  /** By status: rendered without values when the first visitor needs it. */
  const refusals = new Map<number, Promise<StoredResponse>>();
  let openPages = 0;

  function refusal(status: number): Promise<StoredResponse> {
    const page =
      refusals.get(status) ?? renderer.page("/", { status, errors: {} }).then((html) => storePage(html, uncached));
    refusals.set(status, page);
    page.catch(() => refusals.delete(status));
    return page;
  }

  return {
    async sendFormFailure(req, res, failure) {
      if (!failure.values || openPages >= openPagesLimit)
        return sendStored(req, res, await refusal(failure.status), []);
      openPages++;
      res.once("close", () => openPages--);
      const { html } = await renderer.page("/", failure);
      res.type("html").send(html);
    },
    sendError: (req, res) => sendStored(req, res, errorPage, []),
  };
}

async function storePage({ status, html }: RenderedDocument, caching: Record<string, string>): Promise<StoredResponse> {
  const bodies = await compress(Buffer.from(html));
  return storeResponse(bodies, status, { ...htmlType, ...caching });
}
