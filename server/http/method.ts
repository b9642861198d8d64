// Request methods.
import { HttpError } from "./http-error.ts";

interface Request {
  method?: string | undefined;
}

export function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

export function methodNotAllowed(allow: string): HttpError {
  return new HttpError(405, `Use ${allow}.`, { headers: { Allow: allow } });
}

/** @throws HttpError 405 for any other method than GET and HEAD. */
export function requireRead(request: Request): void {
  if (!isRead(request)) throw methodNotAllowed("GET, HEAD");
}
