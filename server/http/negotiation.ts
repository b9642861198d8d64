// What a request asks for: to read or to change, and HTML or JSON.
import type { IncomingMessage } from "node:http";
import { parse as parseContentType } from "content-type";
import Negotiator from "negotiator";

export const isRead = ({ method }: IncomingMessage) => method === "GET" || method === "HEAD";

/**
 * Returns whether the client is a browser that visits a page or posts a form, and not a client of the API. If a client accepts
 * anything, a form post gets a page, because text browsers send that, and any other request gets JSON.
 */
export function prefersHtml({ headers }: IncomingMessage): boolean {
  const accept = headers.accept || "*/*";
  const { type } = parseContentType(headers["content-type"] ?? "");
  const [json, html] = ["application/json", "text/html"];
  const offered = type === "application/x-www-form-urlencoded" ? [html, json] : [json, html];
  return type !== json && new Negotiator({ headers: { accept } }).mediaType(offered) === html;
}
