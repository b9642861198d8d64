// What a request asks for: to read or to change, HTML or JSON, and which content codings.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { parse as parseContentType } from "content-type";
import Negotiator from "negotiator";

export const isRead = ({ method }: IncomingMessage) => method === "GET" || method === "HEAD";

/** In characters. Browsers send up to 150; without a limit, parsing 15 KB costs as much as 40 requests. */
const headerLimit = 200;

/** Returns undefined if the header is missing or longer than any client needs. */
export function readHeader(headers: IncomingHttpHeaders, name: "accept" | "accept-encoding" | "if-none-match") {
  const value = headers[name];
  return value === undefined || value.length > headerLimit ? undefined : value;
}

/**
 * Returns whether the client is a browser that visits a page or posts a form, and not a client of the API. If a client accepts
 * anything, a form post gets a page, because text browsers send that, and any other request gets JSON.
 */
export function prefersHtml({ headers }: IncomingMessage): boolean {
  const accept = readHeader(headers, "accept") || "*/*";
  const { type } = parseContentType(headers["content-type"] ?? "");
  const [json, html] = ["application/json", "text/html"];
  const offered = type === "application/x-www-form-urlencoded" ? [html, json] : [json, html];
  return type !== json && new Negotiator({ headers: { accept } }).mediaType(offered) === html;
}

/** Sorted by the size of their bodies, the smallest first. */
const codings = ["br", "gzip", "identity"] as const;
export type Coding = (typeof codings)[number];

/** Browsers send a handful of values. If clients send more, the cache is cleared. */
const cacheSize = 100;
const cache = new Map<string, Coding[]>();

export function acceptedCodings({ headers }: IncomingMessage): Coding[] {
  const header = readHeader(headers, "accept-encoding") ?? "";
  const known = cache.get(header);
  if (known) return known;
  const accepted = new Set(new Negotiator({ headers: { "accept-encoding": header } }).encodings([...codings]));
  const sorted = codings.filter((coding) => accepted.has(coding));
  if (cache.size >= cacheSize) cache.clear();
  cache.set(header, sorted);
  return sorted;
}
