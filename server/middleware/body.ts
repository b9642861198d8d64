// Reads the body of a sign-up: JSON or a form, in UTF-8 and at most 16 KiB long.
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import { formType, jsonType, readContentType } from "../http/negotiation.ts";
import { isDecodable } from "../text.ts";
import { HttpError } from "./http-errors.ts";

/** `limit` is in bytes; the longest valid form has about 8 KB: 654 characters, percent-encoded. */
const options = { limit: 16 * 1024, inflate: false };

const requireType: RequestHandler = (req, _res, next) => {
  const { type, parameters } = readContentType(req);
  if (type !== jsonType && type !== formType) throw new HttpError(415, `Send ${jsonType} or ${formType}.`);
  if (!/^utf-?8$/i.test(parameters.charset ?? "utf-8")) throw new HttpError(415, "Send the body in UTF-8.");
  req.headers["content-type"] = type; // The parsers would refuse "utf8" and accept "utf-7".
  next();
};

/** The parser replaces invalid percent-encoding: "M%FCller" would be stored as "M�ller". */
function requireDecodable(_req: unknown, _res: unknown, body: Buffer) {
  if (!isDecodable(body.toString())) throw new HttpError(400, "The form has invalid percent-encoding.");
}

/** The message of a parser's error may quote the body. */
const describeError: ErrorRequestHandler = (error: { expose?: boolean; status: number }, _req, _res, next) =>
  next(error.expose ? new HttpError(error.status, "Send valid JSON or a form, uncompressed, in 16 KiB.") : error);

/** Sets req.body to the fields of the body. Refuses a wrong content type with 415 before it reads anything. */
export const readBody = [
  requireType,
  express.json(options),
  // Not extended: qs takes 60 ms for 16 KiB of repeated keys.
  express.urlencoded({ ...options, extended: false, parameterLimit: 100, verify: requireDecodable }),
  describeError,
];
