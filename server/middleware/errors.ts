// Error handling: sends a problem document, or the error page to a client that prefers HTML, and logs the server's faults.
import type { ErrorRequestHandler, Response } from "express";
import type { Logger } from "pino";
import { errorFields, UnavailableError } from "../errors.ts";
import { sendCached, type CachedResponse } from "../http/cached-response.ts";
import { HttpError, problemDocument } from "../http/http-error.ts";
import { prefersHtml } from "../http/negotiation.ts";

export function handleErrors(errorPage: () => CachedResponse, log: Logger): ErrorRequestHandler {
  // Express recognises an error handler by its four parameters.
  return function handleError(thrown: unknown, req, res, _next) {
    const error = beginErrorResponse(thrown, res, log);
    if (res.headersSent) return res.destroy();
    if (error.status >= 500 && prefersHtml(req)) return sendCached(req, res, { ...errorPage(), status: error.status });
    const body = problemDocument(error);
    res.set({ "Content-Type": "application/problem+json", "Content-Length": `${Buffer.byteLength(body)}` }).end(body);
  };
}

/** Sets the status and the headers of an error's response. Logs an error that the server is to blame for: a refused request has no cause. */
export function beginErrorResponse(thrown: unknown, res: Response, log: Logger): HttpError {
  const error = toHttpError(thrown);
  const { status, cause, extra } = error;
  if (cause !== undefined) {
    const described = status === 503 ? errorFields(cause) : describe(cause as Error);
    log.error({ id: res.getHeader("X-Request-Id"), status, error: described }, "request failed");
  }
  if (!res.headersSent) res.status(status).set({ "Cache-Control": "no-store", ...extra.headers });
  return error;
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof UnavailableError) {
    const headers = { "Retry-After": String(error.retryAfterSeconds) };
    return new HttpError(503, error.message, { headers, cause: error.cause });
  }
  // A thrown value may be undefined.
  return new HttpError(500, "Something went wrong. Please try again.", { cause: error ?? new Error("no error") });
}

/** Returns the name and the stack, which names code. The message is left out, because it may quote a visitor's input. */
function describe({ name, stack }: Error) {
  return { name, stack: stack?.replace(/^.*?(?=\n\s+at )/s, "") };
}
