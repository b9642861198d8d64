// The response to a failed form post without JavaScript: the landing page with an error summary and the typed values.
import type { ErrorRequestHandler, Request } from "express";
import type { Logger } from "pino";
import { earlyAccess } from "../../client/shared/content.ts";
import { fields } from "../../client/shared/fields.ts";
import type { FormFailure } from "../../client/shared/page-data.ts";
import { sendCached, type CachedResponse } from "../http/cached-response.ts";
import { toHttpError, type HttpError } from "../http/http-error.ts";
import { logFault, prefersHtml, setErrorHeaders } from "../middleware/errors.ts";
import { readSource } from "../models/source.ts";
import { cachePage } from "../views/page-cache.ts";
import type { Renderer } from "../views/renderer.ts";

/**
 * If the body was not read, the page has no values; that page is rendered once per status and time to wait.
 * Leaves clients that do not prefer HTML to the next error handler.
 */
export function formFailure(renderer: Renderer, log: Logger): ErrorRequestHandler {
  const pagesWithoutValues = new Map<string, Promise<CachedResponse>>();

  function pageWithoutValues({ status, wait }: FormFailure): Promise<CachedResponse> {
    const key = `${status} ${wait}`;
    const page = pagesWithoutValues.get(key) ?? renderer.page("/", { status, wait, errors: {} }).then(cachePage);
    pagesWithoutValues.set(key, page);
    page.catch(() => pagesWithoutValues.delete(key));
    return page;
  }

  return async function sendFormFailure(thrown: unknown, req, res, next) {
    const error = toHttpError(thrown);
    if (!prefersHtml(req)) return next(error);
    logFault(log, res, error);
    const failure = describeFailure(req, error, Number(res.get("Retry-After") ?? error.extra.headers?.["Retry-After"]));
    if (!failure.values) {
      const page = await pageWithoutValues(failure);
      setErrorHeaders(res, error);
      return sendCached(req, res, page);
    }
    const { html } = await renderer.page("/", failure);
    setErrorHeaders(res, error);
    res.type("html").send(html);
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
