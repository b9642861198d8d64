// Errors with an HTTP status, which middleware and controllers throw, and their responses: a problem document (RFC 9457), or a page.
// When a sign-up gets 503 because Postgres fails: models/batch.ts; after how long: time-limits.ts.
import { STATUS_CODES } from "node:http";
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import { errorFields, UnavailableError } from "../errors.ts";
import { noStore, sendCached, type CachedResponse } from "../http/cached-response.ts";
import { prefersHtml } from "../http/negotiation.ts";

export class HttpError extends Error {
  override name = "HttpError";

  constructor(
    readonly status: number,
    /** A sentence for the client, without anything from the request or the fault. */
    readonly detail: string,
    readonly extra: {
      headers?: Record<string, string>;
      fields?: Record<string, string>;
      cause?: unknown;
    } = {},
  ) {
    super(`${status} ${STATUS_CODES[status]}`, { cause: extra.cause });
  }
}

export function methodNotAllowed(allow: string): HttpError {
  return new HttpError(405, `Use ${allow}.`, { headers: { Allow: allow } });
}

/** Use it with router.all: for router.post, Express would answer OPTIONS. */
export const requirePost: RequestHandler = ({ method }, _res, next) =>
  next(method === "POST" ? undefined : methodNotAllowed("POST"));

export function handleErrors(errorPage: () => Promise<CachedResponse>, log: Logger): ErrorRequestHandler {
  // Express recognises an error handler by its four parameters.
  return async function handleError(thrown: unknown, req, res, _next) {
    const error = beginErrorResponse(thrown, res, log);
    if (error.status >= 500 && prefersHtml(req)) {
      return sendCached(req, res, { ...(await errorPage()), status: error.status });
    }
    const body = problemDocument(error);
    res.set({ "Content-Type": "application/problem+json", "Content-Length": `${Buffer.byteLength(body)}` }).end(body);
  };
}

/** Sets the status and the headers of an error's response. Logs an error with a cause; a refused request has none. */
export function beginErrorResponse(thrown: unknown, res: Response, log: Logger): HttpError {
  const error = toHttpError(thrown);
  const { status, cause, extra } = error;
  if (cause !== undefined) {
    const described = status === 503 ? errorFields(cause) : describe(cause as Error);
    log.error({ id: res.getHeader("X-Request-Id"), status, error: described }, "request failed");
  }
  res.status(status).set({ ...noStore, ...extra.headers });
  return error;
}

function problemDocument({ status, detail, extra }: HttpError): string {
  const errors = Object.entries(extra.fields ?? {}).map(([name, text]) => ({ pointer: `#/${name}`, detail: text }));
  const title = STATUS_CODES[status];
  return JSON.stringify({ type: "about:blank", title, status, detail, ...(errors.length > 0 && { errors }) });
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof UnavailableError) {
    const headers = { "Retry-After": String(error.retryAfterSeconds) };
    return new HttpError(503, error.message, { headers, cause: error.cause });
  }
  return new HttpError(500, "Something went wrong. Please try again.", { cause: error });
}

/** Returns the name and the stack without the message, which may quote a visitor's input. */
function describe({ name, stack }: Error) {
  return { name, stack: stack?.replace(/^.*?(?=\n\s+at )/s, "") };
}
