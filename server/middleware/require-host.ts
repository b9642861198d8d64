// Refuses requests that do not name exactly one host (RFC 9112, section 3.2). Node would do so without the site's headers.
import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { HttpError } from "../http-error.ts";

/** Returns whether the request has exactly one Host header; one of HTTP/1.0 may have none. */
export function hasValidHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0");
}

export const requireHost: RequestHandler = (req, _res, next) => {
  if (hasValidHost(req)) return next();
  throw new HttpError(400, "A request must name its host, once.", { headers: { Connection: "close" } });
};
