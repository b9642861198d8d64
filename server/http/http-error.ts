// An error with an HTTP status: middleware and controllers throw it, and middleware/errors.ts sends it.
import { STATUS_CODES } from "node:http";

export class HttpError extends Error {
  override name = "HttpError";

  constructor(
    readonly status: number,
    /** A sentence for the client, without anything from the request or the fault. */
    readonly detail: string,
    readonly extra: {
      headers?: Record<string, string>;
      /** The error of each bad field. */
      fields?: Record<string, string>;
      /** Set if the only fault may be a mistyped email address. */
      suggestion?: { typed: string; meant: string };
      cause?: unknown;
    } = {},
  ) {
    super(`${status} ${STATUS_CODES[status]}`, { cause: extra.cause });
  }
}

/** Returns an HttpError as it is, and a 500 for any other error. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  // A thrown value may be undefined.
  return new HttpError(500, "Something went wrong. Please try again.", { cause: error ?? new Error("no error") });
}
