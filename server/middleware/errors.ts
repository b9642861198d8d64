// Turns whatever went wrong into an answer: a problem document (RFC 9457), or a page for who asked for one.
import { STATUS_CODES, type ServerResponse } from "node:http";
import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import type { ErrorPages } from "../controllers/pages.ts";
import { signupPath } from "../../client/addresses.ts";
import { errorFields } from "../database/error-fields.ts";
import { HttpError } from "../http-error.ts";
import { readSource } from "../models/source.ts";
import { contentType, formFields } from "./body.ts";

/** What Express' body parsers throw, said in our words: theirs quote the body. */
const parserDetails: Record<number, string> = {
  400: "The body cannot be read as its content type.",
  413: "The body is too long.",
  415: "The body's encoding or charset is not supported.",
};

export const notFound: RequestHandler = () => {
  throw new HttpError(404, "There is nothing at this address.");
};

export function methodNotAllowed(allow: string): RequestHandler {
  return () => {
    throw new HttpError(405, `Use ${allow}.`, { headers: { Allow: allow } });
  };
}

export function answerErrors(pages: ErrorPages, log: Logger): ErrorRequestHandler {
  return async function answerError(error: unknown, req, res, next) {
    const failure = toHttpError(error);
    if (failure.status === 500 || failure.extra.cause) {
      const fields = failure.status === 503 ? errorFields(failure.cause) : describe(error);
      logFailure(log, res, failure.status, fields);
    }
    if (res.headersSent) return next(error);
    res.status(failure.status).set({ "Cache-Control": "no-store", ...failure.extra.headers });
    if (!prefersHtml(req)) return sendProblem(res, failure);
    if (req.path !== signupPath) return failure.status < 500 ? sendProblem(res, failure) : pages.sendError(req, res);
    const values = await formFields(req, res);
    await pages.sendFormFailure(req, res, {
      status: failure.status,
      values,
      errors: failure.extra.fields ?? {},
      source: readSource(values, req.headers.referer),
    });
  };
}

/**
 * Answers a fault of ours before Express, which would have caught it; uncaught it would end the process.
 * @param headers of every answer, names and values by turns.
 */
export function answerFault(error: unknown, res: ServerResponse, headers: readonly string[], log: Logger): void {
  const failure = toHttpError(error);
  logFailure(log, res, failure.status, describe(error));
  if (res.headersSent) return void res.destroy();
  const problem = problemMessage(failure);
  res.writeHead(failure.status, [...headers, ...Object.entries(problem.headers).flat()]).end(problem.body);
}

function logFailure(log: Logger, res: ServerResponse, status: number, error: unknown): void {
  log.error({ id: res.getHeader("X-Request-Id"), status, error }, "request failed");
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const { status = 500 } = (error ?? {}) as { status?: number };
  const detail = parserDetails[status];
  if (detail) return new HttpError(status, detail);
  return new HttpError(500, "Something went wrong. Please try again.", {
    cause: error,
  });
}

/** Faults of our own are logged with their stack, which names code and no visitor's input. */
function describe(error: unknown) {
  const { name, stack } = (error ?? {}) as Error; // Anything can be thrown.
  return { name, stack: stack?.replace(/^.*?(?=\n\s+at )/s, "") };
}

/** A form post or a visit by a browser; a client of the API that takes anything gets JSON. */
export function prefersHtml(req: Request): boolean {
  return contentType(req) !== "json" && req.accepts(["json", "html"]) === "html" && !isOtherApi(req);
}

function isOtherApi(req: Request): boolean {
  return /^\/api(\/|$)/.test(req.path) && req.path !== signupPath;
}

function sendProblem(res: Response, failure: HttpError): void {
  res.type(problemType).send(problemDocument(failure));
}

const problemType = "application/problem+json";

/** Header and body of a problem document, for where Express does not write them. */
export function problemMessage(failure: HttpError): { headers: Record<string, string>; body: string } {
  const body = problemDocument(failure);
  const headers = {
    ...failure.extra.headers,
    "Cache-Control": "no-store",
    "Content-Type": problemType,
    "Content-Length": `${Buffer.byteLength(body)}`,
  };
  return { headers, body };
}

function problemDocument({ status, detail, extra }: HttpError): string {
  const errors = Object.entries(extra.fields ?? {}).map(([name, message]) => ({
    pointer: `#/${name}`,
    detail: message,
  }));
  return JSON.stringify({
    type: "about:blank",
    title: STATUS_CODES[status],
    status,
    detail,
    ...(errors.length > 0 ? { errors } : {}),
  });
}
