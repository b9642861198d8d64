// The response to a failed form post without JavaScript: the landing page with an error summary and the typed values.
import type { ErrorRequestHandler, Request } from "express";
import type { Logger } from "pino";
import { earlyAccess } from "../../client/shared/content.ts";
import { fields } from "../../client/shared/fields.ts";
import type { FormFailure } from "../../client/shared/page-data.ts";
import { sendCached } from "../http/cached-response.ts";
import { toHttpError, type HttpError } from "../http/http-error.ts";
import { prefersHtml } from "../http/negotiation.ts";
import { logFault, setErrorHeaders } from "../middleware/errors.ts";
import { readSource } from "../models/source.ts";
import type { Pages } from "../views/page-cache.ts";

/** Leaves clients that do not prefer HTML to the next error handler. */
export function formFailure(renderPage: Pages["renderPage"], log: Logger): ErrorRequestHandler {
  return async function sendFormFailure(thrown: unknown, req, res, next) {
    const error = toHttpError(thrown);
    if (!prefersHtml(req)) return next(error);
    logFault(log, res, error);
    const retryAfter = Number(res.get("Retry-After") ?? error.extra.headers?.["Retry-After"]);
    const page = await renderPage("/", describeFailure(req, error, retryAfter));
    setErrorHeaders(res, error);
    sendCached(req, res, page);
  };
}

/**
 * The body is undefined if the request was refused before its body was read.
 * @param retryAfter in seconds, or NaN.
 */
function describeFailure({ body, headers }: Request, { status, extra }: HttpError, retryAfter: number): FormFailure {
  const posted = body as Record<string, unknown> | undefined;
  return {
    status,
    // Few different texts, as each has a page without values.
    wait: retryAfter > 0 ? earlyAccess.wait(retryAfter) : undefined,
    errors: extra.fields ?? {},
    suggestion: extra.suggestion,
    ...(posted && { values: typedValues(posted), source: readSource(posted, headers.referer) }),
  };
}

/** Returns the text of each field, cut to the field's maximum length. */
function typedValues(posted: Record<string, unknown>): FormFailure["values"] {
  const texts = fields.map(({ name, maxLength }) => {
    const value = posted[name];
    return [name, typeof value === "string" ? Array.from(value).slice(0, maxLength).join("") : ""];
  });
  return Object.fromEntries(texts) as FormFailure["values"];
}
