// Reads a sign-up's body: JSON or a form, at most 16 KiB, in valid UTF-8.
import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import express, { type Request, type RequestHandler, type Response } from "express";
import { HttpError } from "../http-error.ts";
import { decodes } from "../percent-encoding.ts";

const bodyLimit = 16 * 1024;
/** A form is read beyond the limit, so that the page that refuses it can still hold what was typed; up to here. */
const formReadLimit = 4 * bodyLimit;

const tooLong = `A body may have at most ${bodyLimit} bytes.`;

const types = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
};

export function contentType(req: Request): "json" | "form" | undefined {
  const type = (req.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase();
  return type === types.json ? "json" : type === types.form ? "form" : undefined;
}

function inspect(req: IncomingMessage, res: ServerResponse, body: Buffer, encoding: string): void {
  (res as Response).locals.bodyBytes = body.length;
  if (encoding !== "utf-8") return;
  // The form parser leaves what it cannot decode as it is, and "M%FCller" would be stored.
  const readable = isUtf8(body) && (contentType(req as Request) === "json" || decodes(body.toString()));
  if (!readable) throw new HttpError(400, "The body is not valid UTF-8.");
}

const readJson = express.json({ limit: bodyLimit, verify: inspect });
const readForm = express.urlencoded({
  extended: false,
  limit: formReadLimit,
  parameterLimit: formReadLimit,
  verify: inspect,
});

function limitOf(req: Request): number {
  return contentType(req) === "form" ? formReadLimit : bodyLimit;
}

const read: RequestHandler = (req, res, next) => {
  const parse = contentType(req) === "form" ? readForm : readJson;
  if (req.headers["transfer-encoding"] === undefined) return parse(req, res, next);
  // The parsers read the rest of what grew too long before they refuse it, and of a chunked body that may never come.
  let bytes = 0;
  let refused = false;
  req.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (refused || bytes <= limitOf(req)) return;
    refused = true;
    next(new HttpError(413, tooLong, { headers: { Connection: "close" } }));
  });
  return parse(req, res, (error?: unknown) => refused || next(error));
};

const requireKnownType: RequestHandler = (req, _res, next) => {
  if (contentType(req)) return next();
  throw new HttpError(415, `Send ${types.json} or ${types.form}.`);
};

function isTooLong(req: Request): boolean {
  return Number(req.headers["content-length"]) > limitOf(req);
}

/** The parsers would take in all of a body that says it is too long, and only then refuse it. */
const refuseLongBody: RequestHandler = (req, _res, next) => {
  if (!isTooLong(req)) return next();
  throw new HttpError(413, tooLong, { headers: { Connection: "close" } });
};

const requireFields: RequestHandler = (req, res, next) => {
  if (res.locals.bodyBytes > bodyLimit) throw new HttpError(413, tooLong);
  const isObject = typeof req.body === "object" && req.body !== null && !Array.isArray(req.body);
  const isEmpty = contentType(req) === "json" && !res.locals.bodyBytes;
  if (!isObject || isEmpty) throw new HttpError(400, "The body must be a JSON object.");
  next();
};

export const readBody: RequestHandler[] = [requireKnownType, refuseLongBody, read, requireFields];

/** The text fields of a form post, also of one that was refused before its body was read; empty where it cannot be read. */
export async function formFields(req: Request, res: Response): Promise<Record<string, string>> {
  if (contentType(req) !== "form") return {};
  if (req.body === undefined && !req.readableDidRead && !isTooLong(req))
    await new Promise<void>((done) => void read(req, res, () => done()));
  const entries = Object.entries((req.body ?? {}) as Record<string, unknown>);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
