// What a request asks for: to read, and a media type.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { parse as parseContentType } from "content-type";
import type { Request } from "express";

/** In characters. Browsers send up to 150; without a limit, parsing 15 KB costs as much as 40 requests. */
const headerLimit = 200;

/** Returns undefined if the header is missing or longer than any client needs. */
export function readHeader(headers: IncomingHttpHeaders, name: "accept" | "accept-encoding" | "if-none-match") {
  const value = headers[name];
  return value === undefined || value.length > headerLimit ? undefined : value;
}

const bodyTypes = ["application/json", "application/x-www-form-urlencoded"] as const;

/** Returns undefined for a content type that a sign-up cannot have. */
export function bodyType({ headers }: IncomingMessage): (typeof bodyTypes)[number] | undefined {
  const { type } = parseContentType(headers["content-type"] ?? "", { parameters: false });
  return bodyTypes.find((known) => known === type);
}

/**
 * Returns whether the client is a browser that visits a page or posts a form, and not a client of the API. A client that accepts
 * anything gets JSON.
 */
export function prefersHtml(req: Request): boolean {
  if (readHeader(req.headers, "accept") === undefined || bodyType(req) === "application/json") return false;
  return req.accepts(["application/json", "text/html"]) === "text/html";
}

export function isRead({ method }: { method?: string | undefined }): boolean {
  return method === "GET" || method === "HEAD";
}

/** HTTP/1.0 does not require Host. */
export function lacksHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === "1.1" && headers.host === undefined;
}
