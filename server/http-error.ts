// An answer that is not a success: thrown by middleware and controllers, turned into a response by middleware/errors.
import { STATUS_CODES } from "node:http";
import type { FieldErrors } from "./models/waitlist-entry.ts";

export class HttpError extends Error {
  override name = "HttpError";

  constructor(
    readonly status: number,
    /** A sentence for the client; never anything of the request or of the fault. */
    readonly detail: string,
    readonly extra: {
      headers?: Record<string, string>;
      fields?: FieldErrors;
      cause?: unknown;
    } = {},
  ) {
    super(`${status} ${STATUS_CODES[status]}`, { cause: extra.cause });
  }
}
