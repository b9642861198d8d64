// Error handling: sends a problem document, or the error page to a client that prefers HTML, and logs the server's faults.
import type { ServerResponse } from "node:http";
import type { ErrorRequestHandler, Response } from "express";
import type { Logger } from "pino";
import { errorFields } from "../logger.ts";
import { sendCached, type CachedResponse } from "../http/cached-response.ts";
import { problemDocument, toHttpError, type HttpError } from "../http/http-error.ts";
import { prefersHtml } from "../http/negotiation.ts";

export function handleErrors(errorPage: CachedResponse, log: Logger): ErrorRequestHandler {
  // Express recognises an error handler by its four parameters.
  return function handleError(thrown: unknown, req, res, _next) {
    const error = toHttpError(thrown);
    logFault(log, res, error);
    if (res.headersSent) return res.destroy();
    setErrorHeaders(res, error);
    if (error.status >= 500 && prefersHtml(req)) return sendCached(req, res, { ...errorPage, status: error.status });
    const body = problemDocument(error);
    res.set({ "Content-Type": "application/problem+json", "Content-Length": `${Buffer.byteLength(body)}` }).end(body);
  };
}

export function setErrorHeaders(res: Response, { status, extra }: HttpError): void {
  res.status(status).set({ "Cache-Control": "no-store", ...extra.headers });
}

/** Logs an error that the server is to blame for. A refused request has no cause. */
export function logFault(log: Logger, res: ServerResponse, { status, cause }: HttpError): void {
  if (cause === undefined) return;
  const error = status === 503 ? errorFields(cause) : describe(cause as Error);
  log.error({ id: res.getHeader("X-Request-Id"), status, error }, "request failed");
}

/** Returns the name and the stack, which names code. The message is left out, because it may quote a visitor's input. */
function describe({ name, stack }: Error) {
  return { name, stack: stack?.replace(/^.*?(?=\n\s+at )/s, "") };
}
