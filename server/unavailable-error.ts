// The base of errors that end by themselves. The response is 503 with Retry-After; a fault has a cause, which is logged.

export class UnavailableError extends Error {
  constructor(
    /** A sentence for the client. */
    message: string,
    readonly retryAfterSeconds: number,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}
