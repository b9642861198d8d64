// Reads the body of a sign-up: JSON or a form, in UTF-8 and at most 16 KiB long.
import { setImmediate } from "node:timers/promises";
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { formType, jsonType, readContentType } from "../http/negotiation.ts";
import { isDecodable } from "../config/rules.ts";
import { HttpError } from "./http-errors.ts";

/** In bytes; the longest valid form has about 8 KB: 654 characters, percent-encoded. */
export const longestBody = 16 * 1024;
const options = { limit: longestBody, inflate: false };

const requireType: RequestHandler = (req, _res, next) => {
  const { type, parameters } = readContentType(req);
  if (type !== jsonType && type !== formType) throw new HttpError(415, `Send ${jsonType} or ${formType}.`);
  if (!/^utf-?8$/i.test(parameters.charset ?? "utf-8")) throw new HttpError(415, "Send the body in UTF-8.");
  req.headers["content-type"] = type; // The parsers would refuse "utf8" and accept "utf-7".
  next();
};

/** Node reads the rest of the packet meanwhile: without it, a sign-up takes a fifth more processor time (1,000 clients). */
const waitForPacket: RequestHandler = async (_req, _res, next) => {
  await setImmediate();
  next();
};

/** The parser replaces invalid percent-encoding: "M%FCller" would be stored as "M�ller". */
function requireDecodable(_req: unknown, _res: unknown, body: Buffer) {
  if (!isDecodable(body.toString())) throw new HttpError(400, "The form has invalid percent-encoding.");
}

/** By the type of a parser's error, whose own message may quote the body. */
const details: Record<string, string> = {
  "entity.parse.failed": "The body is not a valid JSON object.",
  "entity.too.large": "The body is longer than 16 KiB.",
  "parameters.too.many": "The form has more than 100 fields.",
  "encoding.unsupported": "Send the body without a Content-Encoding.",
};

interface ParserError {
  type: string;
  status: number;
  /** False for a fault of the program. */
  expose?: boolean;
}

const describeError: ErrorRequestHandler = (error: HttpError | ParserError, _req, _res, next) => {
  if (error instanceof HttpError || !error.expose) return next(error);
  return next(new HttpError(error.status, details[error.type] ?? "The body did not arrive completely."));
};

/** Sets req.body to the fields of the body. Refuses a wrong content type with 415 before it reads anything. */
export const readBody = () => [
  requireType,
  waitForPacket,
  express.json(options),
  // Not extended: qs takes 60 ms for 16 KiB of repeated keys.
  express.urlencoded({ ...options, extended: false, parameterLimit: 100, verify: requireDecodable }),
  describeError,
];
