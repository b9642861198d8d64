// Checks of a request's headers: their number, and that they name exactly one host (RFC 9112, section 3.2).
import type { IncomingMessage } from "node:http";
import type { RequestHandler } from "express";
import { HttpError } from "../http/http-error.ts";
import { headerLimit } from "../http/server.ts";

/** Returns the error of a bad request. Node would refuse a missing host as well, but without the site's headers. */
export function findHeaderFault({ rawHeaders, httpVersion }: IncomingMessage): HttpError | undefined {
  if (rawHeaders.length > 2 * headerLimit) return tooMany;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0") ? undefined : notOneHost;
}

const headers = { Connection: "close" };
const tooMany = new HttpError(431, `A request may have at most ${headerLimit} headers.`, { headers });
const notOneHost = new HttpError(400, "A request must name its host, once.", { headers });

export const refuseBadHeaders: RequestHandler = (req, _res, next) => next(findHeaderFault(req));
