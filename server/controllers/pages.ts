// The pages: those that are the same for everybody from memory, those with a visitor's input rendered for that request.
import type { Request, RequestHandler, Response } from "express";
import { unknownAddress } from "../../client/addresses.ts";
import type { FormFailure } from "../../client/page-data.ts";
import { HttpError } from "../http-error.ts";
import type { Renderer } from "../views/renderer.ts";
import { compress, sendStored, storeResponse, type StoredResponse } from "../views/stored-response.ts";

export interface Pages {
  send: RequestHandler;
  /** The landing page with the failure, what was typed and the status. */
  sendFormFailure(req: Request, res: Response, failure: FormFailure): Promise<void>;
  /** The page for a fault of ours, with the status that the response already has. */
  sendError(req: Request, res: Response): void;
}

/** Kept by nobody without asking whether it is still current. */
const revalidated = "public, max-age=0, must-revalidate";

/** Renders the pages of production once, now: a build that cannot render one never starts to serve. */
export async function createStoredPages(renderer: Renderer): Promise<Pages> {
  const stored = new Map<string, StoredResponse>();
  for (const address of await renderer.addresses()) {
    const { status, html } = await renderer.page(address);
    const bodies = await compress(Buffer.from(html));
    stored.set(
      address,
      storeResponse({
        status,
        type: "html",
        cacheControl: revalidated,
        bodies,
      }),
    );
  }
  return createPages(renderer, async (req, res, address) => {
    sendStored(req, res, stored.get(address) as StoredResponse);
  });
}

/** Renders every page for every request: for development, where the sources change between two. */
export async function createLivePages(renderer: Renderer): Promise<Pages> {
  return createPages(renderer, async (_req, res, address) => {
    const { status, html } = await renderer.page(address);
    res.status(status).set("Cache-Control", "no-store").type("html").send(html);
  });
}

async function createPages(
  renderer: Renderer,
  sendPage: (req: Request, res: Response, address: string) => Promise<void>,
): Promise<Pages> {
  const error = await renderer.errorPage();
  return {
    async send(req, res) {
      const address = await renderer.addressOf(req.path, new URLSearchParams(req.url.split("?", 2)[1]));
      const readOnly = req.method === "GET" || req.method === "HEAD";
      if (!readOnly && address !== unknownAddress) {
        throw new HttpError(405, "Use GET or HEAD.", {
          headers: { Allow: "GET, HEAD" },
        });
      }
      await sendPage(req, res, address);
    },
    async sendFormFailure(_req, res, failure) {
      const { html } = await renderer.page("/", failure);
      res.type("html").send(html);
    },
    sendError(_req, res) {
      res.type("html").send(error.html);
    },
  };
}
