// Turns whatever went wrong into a response: a problem document (RFC 9457), or a page for a client that prefers HTML.
import { STATUS_CODES, type ServerResponse } from "node:http";
import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import type { Logger } from "pino";
import type { ErrorPages } from "../controllers/pages.ts";
import { signupPath } from "../../client/addresses.ts";
import { fields } from "../../client/early-access/fields.ts";
import type { FormFailure } from "../../client/page-data.ts";
import { errorFields } from "../database/error-fields.ts";
import { HttpError } from "../http-error.ts";
import { readSource } from "../models/source.ts";
import { acceptsHtml } from "../negotiation.ts";
import { bodyType, canDiscardBody } from "./body.ts";

export const notFound: RequestHandler = () => {
  throw new HttpError(404, "There is nothing at this address.");
};

export function methodNotAllowed(allow: string): RequestHandler {
  return () => {
    throw new HttpError(405, `Use ${allow}.`, { headers: { Allow: allow } });
  };
}

export function answerErrors(pages: ErrorPages, log: Logger): ErrorRequestHandler {
  // Express knows an error handler by its four parameters.
  return async function answerError(error: unknown, req, res, _next) {
    const failure = toHttpError(error);
    logFault(log, res, failure);
    if (res.headersSent) return void res.destroy();
    res.status(failure.status).set({ "Cache-Control": "no-store", ...failure.extra.headers });
    if (!canDiscardBody(req)) res.set("Connection", "close");
    if (!prefersHtml(req)) return sendProblem(res, failure);
    if (req.path !== signupPath) return failure.status < 500 ? sendProblem(res, failure) : pages.sendError(req, res);
    try {
      await pages.sendFormFailure(req, res, describeFailure(req, failure));
    } catch (fault) {
      logFault(log, res, toHttpError(fault));
      pages.sendError(req, res);
    }
  };
}

/** The body is undefined where the request was refused before the server read it. */
function describeFailure({ body, headers }: Request, { status, extra }: HttpError): FormFailure {
  const posted = body as Record<string, unknown> | undefined;
  return {
    status,
    errors: extra.fields ?? {},
    ...(posted && { values: typedValues(posted), source: readSource(posted, headers.referer) }),
  };
}

/** Returns the text of each field, cut to the length that the field may have. */
function typedValues(posted: Record<string, unknown>): FormFailure["values"] {
  const texts = fields.map(({ name, maxLength }) => {
    const value = posted[name];
    return [name, typeof value === "string" ? Array.from(value).slice(0, maxLength).join("") : ""];
  });
  return Object.fromEntries(texts) as FormFailure["values"];
}

/**
 * Answers a fault of ours before Express, which would have caught it; uncaught it would end the process.
 * @param headers of every answer, names and values by turns.
 */
export function answerFault(error: unknown, res: ServerResponse, headers: readonly string[], log: Logger): void {
  const failure = toHttpError(error);
  logFault(log, res, failure);
  if (res.headersSent) return void res.destroy();
  const problem = problemMessage(failure);
  res.writeHead(failure.status, [...headers, ...Object.entries(problem.headers).flat()]).end(problem.body);
}

/** Logs what the server is to blame for; a refused request has no cause. */
function logFault(log: Logger, res: ServerResponse, { status, cause }: HttpError): void {
  if (cause === undefined) return;
  const error = status === 503 ? errorFields(cause) : describe(cause);
  log.error({ id: res.getHeader("X-Request-Id"), status, error }, "request failed");
}

function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  // A thrown value may be undefined.
  return new HttpError(500, "Something went wrong. Please try again.", { cause: error ?? new Error("no error") });
}

/** Faults of our own are logged with their stack, which names code and no visitor's input. */
function describe(error: unknown) {
  const { name, stack } = (error ?? {}) as Error; // Anything can be thrown.
  return { name, stack: stack?.replace(/^.*?(?=\n\s+at )/s, "") };
}

/** Returns whether the client is a browser that posts a form or visits an address, and no client of the API. */
export function prefersHtml(req: Request): boolean {
  return acceptsHtml(req) && bodyType(req) !== "json" && !isOtherApi(req);
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
