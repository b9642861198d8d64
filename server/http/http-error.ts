// Errors with an HTTP status, which middleware and controllers throw, and their problem documents (RFC 9457).
import type { RequestHandler } from "express";
import { isRead } from "./negotiation.ts";
import { nodeHttp } from "./node-internals.ts";

const { STATUS_CODES } = nodeHttp;

export class HttpError extends Error {
  override name = "HttpError";

  constructor(
    readonly status: number,
    /** A sentence for the client, without anything from the request or the fault. */
    readonly detail: string,
    readonly extra: {
      headers?: Record<string, string>;
      fields?: Record<string, string>;
      cause?: unknown;
    } = {},
  ) {
    super(`${status} ${STATUS_CODES[status]}`, { cause: extra.cause });
  }
}

export function problemDocument({ status, detail, extra }: HttpError): string {
  const errors = Object.entries(extra.fields ?? {}).map(([name, text]) => ({ pointer: `#/${name}`, detail: text }));
  const title = STATUS_CODES[status];
  return JSON.stringify({ type: "about:blank", title, status, detail, ...(errors.length > 0 && { errors }) });
}

function methodNotAllowed(allow: string): HttpError {
  return new HttpError(405, `Use ${allow}.`, { headers: { Allow: allow } });
}

export function requireRead(request: { method?: string | undefined }): void {
  if (!isRead(request)) throw methodNotAllowed("GET, HEAD");
}

/** With router.all, not router.post, for which Express would answer OPTIONS. */
export const requirePost: RequestHandler = ({ method }, _res, next) =>
  next(method === "POST" ? undefined : methodNotAllowed("POST"));
