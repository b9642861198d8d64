// Reads the body of a sign-up: a JSON object or a form, in UTF-8 and at most 16 KiB long.
import { parse as parseForm } from "node:querystring";
import { parse as parseContentType } from "content-type";
import type { Request, RequestHandler } from "express";
import getRawBody from "raw-body";
import { isDecodable } from "../errors.ts";
import { HttpError } from "./http-errors.ts";
import { bodyLimit } from "../http/server.ts";

/**
 * Sets req.body to the fields of the body. Refuses a wrong content type with 415 before it reads anything, and a body that is
 * too long with 413 without reading the rest.
 */
export const readBody: RequestHandler = async (req, _res, next) => {
  const { type, parameters } = parseContentType(req.headers["content-type"] ?? "");
  const parse = parsers.get(type);
  if (!parse) throw new HttpError(415, "Send application/json or application/x-www-form-urlencoded.");
  requireReadable(req, parameters.charset);
  req.body = parse(decode(await receive(req)));
  next();
};

const parsers = new Map([
  ["application/json", parseObject],
  ["application/x-www-form-urlencoded", parseFields],
]);

function requireReadable({ headers }: Request, charset = "utf-8") {
  if (!/^utf-?8$/i.test(charset)) throw new HttpError(415, "Send the body in UTF-8.");
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding.toLowerCase() === "identity") return;
  throw new HttpError(415, "Send the body without a Content-Encoding.", { headers: { "Accept-Encoding": "identity" } });
}

/** express.raw would read an endless body to its end before it answers 413. */
async function receive(req: Request): Promise<Buffer> {
  try {
    return await getRawBody(req, { limit: bodyLimit, length: req.headers["content-length"] ?? null });
  } catch (error) {
    const { status } = error as getRawBody.RawBodyError;
    if (status === 413) throw new HttpError(413, `The body is longer than ${bodyLimit} bytes.`);
    throw new HttpError(400, "The body did not arrive completely.");
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new HttpError(400, "The body is not valid UTF-8.");
  }
}

function parseObject(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HttpError(400, "The body is not valid JSON.");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new HttpError(400, "The body must be a JSON object.");
}

function parseFields(text: string): object {
  // querystring replaces invalid percent-encoding: "M%FCller" would be stored as "M�ller".
  if (!isDecodable(text)) throw new HttpError(400, "The form has invalid percent-encoding.");
  return parseForm(text); // Not qs, which takes 60 ms for 16 KiB of repeated keys.
}
