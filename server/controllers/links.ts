// POST to the page of a link in a mail, or to the page with the undo button: confirms or deletes an entry.
import { Router, type Request, type RequestHandler, type Response } from "express";
import { confirmPath, leavePath, tokenParam, tokenPattern, undonePath, undoParam } from "../../client/shared/paths.ts";
import { noStore, sendCached } from "../http/cached-response.ts";
import { clientLimit } from "../middleware/rate-limit.ts";
import type { EntryLinks } from "../models/entry-links.ts";
import type { PageId, Pages } from "../views/page-cache.ts";

type Follow = (token: string, req: Request, res: Response) => Promise<void>;

/** Requests without a well-formed token go to the next router. No body is read. */
export function entryLinks(links: EntryLinks, signupLimit: number, getPage: Pages["getPage"]): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const limit = clientLimit(signupLimit, "link");

  const post = (path: string, param: string, follow: Follow) => {
    const pattern = tokenPattern(param);
    const readToken: RequestHandler = ({ method, url }, res, next) => {
      res.locals.token = method === "POST" ? pattern.exec(url.split("?", 2)[1] ?? "")?.[1] : undefined;
      next(res.locals.token ? undefined : "route");
    };
    const handle: RequestHandler = (req, res) => follow(res.locals.token as string, req, res);
    // For router.post, Express would answer OPTIONS.
    router.all(path, readToken, limit, handle);
  };

  /** Sends no redirect: mail providers, which post to the URL in List-Unsubscribe, must get none (RFC 8058). */
  const send = async (req: Request, res: Response, id: PageId) => sendCached(req, res, await getPage(id));

  post(confirmPath, tokenParam, async (token, req, res) => {
    const confirmed = await links.confirm(token);
    await send(req, res, confirmed ? "confirmed" : confirmPath);
  });
  post(leavePath, tokenParam, async (token, req, res) => {
    await links.leave(token);
    await send(req, res, "left");
  });
  post("/", undoParam, async (token, _req, res) => {
    await links.leave(token);
    res.set(noStore).redirect(303, undonePath);
  });
  return router;
}
