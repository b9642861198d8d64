// Errors with an HTTP status, which middleware and controllers throw, and their problem documents (RFC 9457).
import { isRead } from "./negotiation.ts";
import { UnavailableError } from "../unavailable-error.ts";

/** Not an import: see server.ts. */
const { STATUS_CODES } = process.getBuiltinModule("node:http");

export class HttpError extends Error {
  override name = "HttpError";

  constructor(
    readonly status: number,
    /** A sentence for the client, without anything from the request or the fault. */
    readonly detail: string,
    readonly extra: {
      headers?: Record<string, string>;
      fields?: Record<string, string>;
      /** Set if the only fault may be a mistyped email address. */
      suggestion?: { typed: string; meant: string };
      cause?: unknown;
    } = {},
  ) {
    super(`${status} ${STATUS_CODES[status]}`, { cause: extra.cause });
  }
}

export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof UnavailableError) {
    const headers = { "Retry-After": String(error.retryAfterSeconds) };
    return new HttpError(503, error.message, { headers, cause: error.cause });
  }
  // A thrown value may be undefined.
  return new HttpError(500, "Something went wrong. Please try again.", { cause: error ?? new Error("no error") });
}

export function problemDocument({ status, detail, extra }: HttpError): string {
  const errors = Object.entries(extra.fields ?? {}).map(([name, text]) => ({ pointer: `#/${name}`, detail: text }));
  const title = STATUS_CODES[status];
  return JSON.stringify({ type: "about:blank", title, status, detail, ...(errors.length > 0 && { errors }) });
}

export function methodNotAllowed(allow: string): HttpError {
  return new HttpError(405, `Use ${allow}.`, { headers: { Allow: allow } });
}

export function requireRead(request: { method?: string | undefined }): void {
  if (!isRead(request)) throw methodNotAllowed("GET, HEAD");
}
