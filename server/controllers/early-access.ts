// POST /api/earlyaccess: puts a visitor on the waitlist. A failed form post without JavaScript gets the landing page with the typed values.
// The rules of each field, and the honeypot: models/sign-up-rules.ts. The least response time: models/batch.ts.
import type { ErrorRequestHandler, Request, RequestHandler } from "express";
import type { Logger } from "pino";
import { createToken } from "../models/entry-tokens.ts";
import { sameOrigin } from "../middleware/same-origin.ts";
import type { FormFailure } from "../../client/shared/landing-state.ts";
import { joinedPath } from "../../client/shared/paths.ts";
import { earlyAccess as content } from "../../client/shared/content.ts";
import { fields } from "../../client/shared/fields.ts";
import { noStore, sendCached } from "../http/cached-response.ts";
import { prefersHtml } from "../http/negotiation.ts";
import { readBody } from "../middleware/body.ts";
import { beginErrorResponse, HttpError, requirePost } from "../middleware/http-errors.ts";
import { clientLimit } from "../middleware/rate-limit.ts";
import { readSource } from "../models/source.ts";
import { parseEntry, readNoticeId } from "../models/sign-up-rules.ts";
import type { Waitlist } from "../models/waitlist.ts";
import type { PublicSite } from "../views/document.ts";
import type { Pages } from "../views/page-cache.ts";

export interface EarlyAccessOptions {
  site: PublicSite;
  signupLimit: number;
  waitlist: Pick<Waitlist, "add">;
  log: Logger;
  /** Whether each response has a token with which the sign-up can be undone. */
  undo: boolean;
}

export function earlyAccess(options: EarlyAccessOptions, getPage: Pages["getPage"]) {
  const { site, signupLimit, log } = options;
  const requireOpen: RequestHandler = (_req, _res, next) =>
    next(site.settings.closed ? new HttpError(410, "The early access list is closed.") : undefined);
  return [
    requireOpen, // 410
    requirePost, // 405
    sameOrigin(site.origin, log), // 403
    ...clientLimit(signupLimit, "signup"), // 429
    ...readBody(), // 415, 413 or 400
    addSignUp(options), // 422, then 503 if Postgres fails, then 201 or 303
    sendFormFailure(getPage, log), // as a page, with the status of the refusal
  ];
}

/** Sends the same response for a new and a known address, to hide who is on the list. The token for a known address has no effect. */
function addSignUp({ waitlist, undo }: EarlyAccessOptions): RequestHandler {
  return async function addToWaitlist(req, res) {
    const body = (req.body ?? {}) as Record<string, unknown>; // A request without a body has none.
    const parsed = parseEntry(body, req.headers.referer);
    if (!parsed.ok) throw new HttpError(422, "Some fields are not valid.", { fields: parsed.errors });
    const notice_id = readNoticeId(body.notice);
    const undoing = undo ? createToken() : undefined;
    await waitlist.add({ ...parsed.entry, notice_id, token_hash: undoing?.hash });
    res.set(noStore);
    if (prefersHtml(req)) res.redirect(303, joinedPath(undoing?.token));
    else res.status(201).json({ message: content.success.text, undo: undoing?.token });
  };
}

function sendFormFailure(getPage: Pages["getPage"], log: Logger): ErrorRequestHandler {
  return async function sendLandingPage(thrown: unknown, req, res, next) {
    if (!prefersHtml(req)) return next(thrown);
    const error = beginErrorResponse(thrown, res, log);
    const failure = describeFailure(req, error, Number(res.get("Retry-After")));
    sendCached(req, res, await getPage("/", failure));
  };
}

/** @param retryAfter in seconds, or NaN. */
function describeFailure({ body, headers }: Request, { status, extra }: HttpError, retryAfter: number): FormFailure {
  // Undefined if the request was refused before its body was read.
  const posted = body as Record<string, unknown> | undefined;
  return {
    status,
    // The texts are few, because each has a cached page.
    wait: retryAfter > 0 ? content.wait(retryAfter) : undefined,
    errors: extra.fields ?? {},
    ...(posted && { values: typedValues(posted), source: readSource(posted, headers.referer) }),
  };
}

function typedValues(posted: Record<string, unknown>): FormFailure["values"] {
  const texts = fields.map(({ name }) => [name, typeof posted[name] === "string" ? posted[name] : ""]);
  return Object.fromEntries(texts) as FormFailure["values"];
}
