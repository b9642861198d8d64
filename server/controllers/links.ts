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
import { canDiscardBody } from "../middleware/body.ts";
import { signupLimit, type SignupLimits } from "../middleware/signup-limit.ts";
import type { EntryLinks } from "../models/entry-links.ts";
import type { Renderer } from "../views/renderer.ts";
import { reportUnavailable } from "./early-access.ts";

/** In limits of sign-ups: a POST adds nothing to the list, and a mail provider sends those of many people. */
const limitFactor = 100;

/** A request without a well-formed token is left to the next router. The body is not read. */
export function entryLinks(links: EntryLinks, limits: SignupLimits, renderer: Renderer): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const limit = signupLimit({ ...limits, limit: limits.limit * limitFactor }, "link-");

  function post(path: string, query: string, act: (token: string) => Promise<void>, respond: RequestHandler) {
    const tokenOf = ({ url }: Request) => readToken(url.split("?", 2)[1] ?? "", query);
    // Not router.post, for which Express would answer OPTIONS.
    const skip: RequestHandler = (req, _res, next) => next(req.method === "POST" && tokenOf(req) ? undefined : "route");
    const run: RequestHandler = async (req, res, next) => {
      await act(tokenOf(req) as string);
      res.set("Cache-Control", "no-store");
      if (!canDiscardBody(req)) res.set("Connection", "close");
      next();
    };
    router.all(path, skip, limit, run, respond);
  }

  /** Not a redirect: mail providers, which post to the address in List-Unsubscribe, must get none (RFC 8058). */
  const sendResult =
    (path: string): RequestHandler =>
    async (_req, res) => {
      const { html } = await renderer.page(`${path}?done`);
      res.type("html").send(html);
    };

  post(confirmPath, tokenQuery, links.confirm, sendResult(confirmPath));
  post(leavePath, tokenQuery, links.leave, sendResult(leavePath));
  post("/", undoQuery, links.leave, (_req, res) => res.redirect(303, `/?${undoneQuery}#${formId}`));
  router.use(reportUnavailable());
  return router;
}
