// POST /api/earlyaccess: puts a visitor on the waitlist.
import { Router, type Request, type RequestHandler } from "express";
import type { Logger } from "pino";
import { joinedPath, signupPath } from "../../client/shared/paths.ts";
import { closedList, earlyAccess as content } from "../../client/shared/content.ts";
import { emailChoice } from "../../client/shared/fields.ts";
import { suggestEmail } from "../../client/shared/suggested-email.ts";
import { HttpError, methodNotAllowed } from "../http/http-error.ts";
import { prefersHtml } from "../http/negotiation.ts";
import { readBody } from "../middleware/body.ts";
import { clientLimit, type SignupLimits } from "../middleware/rate-limit.ts";
import { sameOrigin } from "../middleware/security-headers.ts";
import { createToken } from "../models/entry-links.ts";
import type { SignupCeiling } from "../models/signup-volume.ts";
import { parseEntry, readNoticeId, type ParsedEntry } from "../models/waitlist-entry.ts";
import type { Waitlist } from "../models/waitlist.ts";
import type { Pages } from "../views/page-cache.ts";
import { formFailure } from "./form-failure.ts";

export interface EarlyAccessOptions {
  /** The site's public origin. */
  origin: string;
  /** Whether the list takes sign-ups, asked for each request. */
  isOpen: () => boolean;
  limits: SignupLimits;
  ceiling: SignupCeiling;
  waitlist: Pick<Waitlist, "join">;
  renderPage: Pages["renderPage"];
  log: Logger;
  /** Whether each response has a token with which the sign-up can be undone for an hour. */
  undo: boolean;
}

export function earlyAccess(options: EarlyAccessOptions): Router {
  const { origin, isOpen, limits, renderPage, log } = options;
  const router = Router({ caseSensitive: true, strict: true });
  const requireOpen: RequestHandler = (_req, _res, next) => next(isOpen() ? undefined : closed());
  router.post(signupPath, requireOpen, sameOrigin(origin), clientLimit(limits), readBody, join(options));
  router.all(signupPath, () => {
    throw isOpen() ? methodNotAllowed("POST") : closed();
  });
  router.use(formFailure(renderPage, log));
  return router;
}

const closed = () => new HttpError(410, `${closedList.heading}.`);

/** Sends the same response for a new and a known address: it must not reveal who is on the list. The token of a known one has no effect. */
function join({ ceiling, waitlist, undo }: EarlyAccessOptions): RequestHandler {
  return async function joinWaitlist(req, res) {
    const parsed = parsePost(req);
    if (!parsed.ok) throw new HttpError(422, "Some fields are not valid.", { fields: parsed.errors });
    const notice_id = readNoticeId((req.body as Record<string, unknown>).notice);
    const undoing = undo ? createToken() : undefined;
    const signUp = { ...parsed.entry, notice_id, ...(undoing && { token_hash: undoing.hash }) };
    await ceiling.pass((unusual_volume) => waitlist.join({ ...signUp, unusual_volume }));
    res.set("Cache-Control", "no-store");
    if (prefersHtml(req)) res.redirect(303, joinedPath(undoing?.token));
    else res.status(201).json({ message: content.success.text, ...(undoing && { undo: undoing.token }) });
  };
}

/**
 * Parses the body. For a form post, the visitor's answer decides between the typed address and the suggested one; an
 * answer to the question about another address does not count.
 * @throws a 422 with the question if the address looks mistyped and has no answer.
 */
function parsePost(req: Request): ParsedEntry {
  const body = req.body as Record<string, unknown>;
  const parsed = parseEntry(body, req.headers.referer);
  if (!parsed.ok || !prefersHtml(req)) return parsed;
  const typed = parsed.entry.email;
  const meant = suggestEmail(typed);
  const choice = body[emailChoice];
  if (meant === undefined || choice === typed) return parsed;
  if (choice === meant) return parseEntry({ ...body, email: meant }, req.headers.referer);
  throw new HttpError(422, "The email address looks mistyped.", { suggestion: { typed, meant } });
}
