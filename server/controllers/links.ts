// POST to the page of a link in the confirmation mail, or to the page with the undo button: confirms or deletes an entry.
import { Router, type Request, type RequestHandler } from "express";
import {
  confirmPath,
  formId,
  leavePath,
  readToken,
  tokenQuery,
  undoneQuery,
  undoQuery,
} from "../../client/addresses.ts";
import { sendCached } from "../http/cached-response.ts";
import { signupLimit, type SignupLimits } from "../middleware/rate-limit.ts";
import type { EntryLinks } from "../models/entry-links.ts";
import type { FindPage } from "../views/prerendered-pages.ts";
import { reportUnavailable } from "./early-access.ts";

/** Multiple of the sign-up limit: a POST adds nothing to the list, and a mail provider sends the requests of many people. */
const limitFactor = 100;

type Act = (token: string) => Promise<void>;

/** Requests without a well-formed token go to the next router. No body is read. */
export function entryLinks(links: EntryLinks, limits: SignupLimits, findPage: FindPage): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const limit = signupLimit({ ...limits, limit: limits.limit * limitFactor }, "link-");

  const post = (path: string, query: string, act: Act, respond: RequestHandler) =>
    // Not router.post, for which Express would answer OPTIONS.
    router.all(path, skipWithoutToken(query), limit, follow(act, query), respond);

  /** Not a redirect: mail providers, which post to the address in List-Unsubscribe, must get none (RFC 8058). */
  const sendResult =
    (path: string): RequestHandler =>
    async (req, res) =>
      sendCached(req, res, await findPage(`${path}?done`));

  post(confirmPath, tokenQuery, links.confirm, sendResult(confirmPath));
  post(leavePath, tokenQuery, links.leave, sendResult(leavePath));
  post("/", undoQuery, links.leave, (_req, res) => res.redirect(303, `/?${undoneQuery}#${formId}`));
  router.use(reportUnavailable());
  return router;
}

function tokenOf({ url }: Request, query: string): string | undefined {
  return readToken(url.split("?", 2)[1] ?? "", query);
}

function skipWithoutToken(query: string): RequestHandler {
  return (req, _res, next) => next(req.method === "POST" && tokenOf(req, query) ? undefined : "route");
}

function follow(act: Act, query: string): RequestHandler {
  return async function followLink(req, _res, next) {
    await act(tokenOf(req, query) as string);
    next();
  };
}
