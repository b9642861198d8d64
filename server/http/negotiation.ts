// What a request asks for and sends: to read or to change, HTML or JSON, and the Content-Type of its body.
import type { IncomingMessage } from "node:http";
import { parse as parseContentType } from "content-type";
import Negotiator from "negotiator";

export const jsonType = "application/json";
export const formType = "application/x-www-form-urlencoded";

export const isRead = ({ method }: IncomingMessage) => method === "GET" || method === "HEAD";

/** Returns the type in lower case, "" if the request names none, and its parameters, such as charset. */
export const readContentType = ({ headers }: IncomingMessage) => parseContentType(headers["content-type"] ?? "");

/**
 * Returns whether the client is a browser that visits a page or posts a form, and not a client of the API. If a client accepts
 * anything, a form post gets a page, because text browsers send that, and any other request gets JSON.
 */
export function prefersHtml(req: IncomingMessage): boolean {
  const sent = readContentType(req).type;
  if (sent === jsonType) return false;
  const accept = req.headers.accept || "*/*";
  const offered = sent === formType ? ["text/html", jsonType] : [jsonType, "text/html"];
  return new Negotiator({ headers: { accept } }).mediaType(offered) === "text/html";
}
