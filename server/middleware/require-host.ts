// Refuses a request of HTTP/1.1 without Host (RFC 9112, section 3.2). Node would, too, but without our headers.
import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { HttpError } from "../http-error.ts";

export function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion === "1.1";
}

export const requireHost: RequestHandler = (req, _res, next) => {
  if (!lacksHost(req)) return next();
  throw new HttpError(400, "A request must name its host.", { headers: { Connection: "close" } });
};
