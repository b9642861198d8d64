// POST to the page of a link in the confirmation mail, or to the page with the undo button: confirms or deletes an entry.
import { Router, type Request, type RequestHandler, type Response } from "express";
import {
  confirmedPath,
  confirmPath,
  expiredPath,
  formId,
  leavePath,
  leftPath,
  readToken,
  tokenParam,
  undoneParam,
  undoParam,
} from "../../client/shared/paths.ts";
import { sendCached } from "../http/cached-response.ts";
import { clientLimit, type SignupLimits } from "../middleware/rate-limit.ts";
import type { EntryLinks } from "../models/entry-links.ts";
import type { Pages } from "../views/page-cache.ts";

type Follow = (token: string, req: Request, res: Response) => Promise<void>;

/** Requests without a well-formed token go to the next router. No body is read. */
export function entryLinks(links: EntryLinks, limits: SignupLimits, renderPage: Pages["renderPage"]): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const limit = clientLimit(limits, "link");

  const post = (path: string, query: string, follow: Follow) => {
    const tokenOf = ({ method, url }: Request) =>
      method === "POST" ? readToken(url.split("?", 2)[1] ?? "", query) : undefined;
    const skipWithoutToken: RequestHandler = (req, _res, next) => next(tokenOf(req) ? undefined : "route");
    const handle: RequestHandler = (req, res) => follow(tokenOf(req) as string, req, res);
    // Not router.post, for which Express would answer OPTIONS.
    router.all(path, skipWithoutToken, limit, handle);
  };

  /** Not a redirect: mail providers, which post to the URL in List-Unsubscribe, must get none (RFC 8058). */
  const send = async (req: Request, res: Response, path: string) => sendCached(req, res, await renderPage(path));

  post(confirmPath, tokenParam, async (token, req, res) => {
    const confirmed = await links.confirm(token);
    await send(req, res, confirmed ? confirmedPath : expiredPath);
  });
  post(leavePath, tokenParam, async (token, req, res) => {
    await links.leave(token);
    await send(req, res, leftPath);
  });
  post("/", undoParam, async (token, _req, res) => {
    await links.leave(token);
    res.redirect(303, `/?${undoneParam}#${formId}`);
  });
  return router;
}
