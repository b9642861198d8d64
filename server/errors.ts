// Errors for operators and clients, what may be logged of an error, and text that is safe to store, log or write to a terminal.

/** An error that the operator can repair. Its message says how, in whole sentences. */
export class OperatorError extends Error {
  override name = "OperatorError";
  /** The code of Postgres, the driver or the system. An error with a transient code is worth another attempt. */
  readonly code: string | undefined;

  constructor(message: string, { cause, code }: { cause?: unknown; code?: string | undefined } = {}) {
    super(message, { cause });
    this.code = code;
  }
}

/** The waitlist takes no changes for a while. The response is 503 with Retry-After; a fault has a cause, which is logged. */
export class UnavailableError extends Error {
  constructor(
    message: string,
    readonly retryAfterSeconds: number,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

export const migrateHint =
  "Migrate: docker compose run --rm migrate, npm run migrate, or in the image node dist/server/migrate.js.";

/** Writes the error to stderr, one for the operator without its stack. The process will end with exit code 1. */
export function fail(error: unknown): void {
  const text = error instanceof OperatorError ? error.message : String(error instanceof Error ? error.stack : error);
  process.stderr.write(`${printableLines(text)}\n`);
  process.exitCode = 1;
}

/** Resolves when the stream's output is written, or with the error: process.exit() drops what a pipe did not take yet. */
export const written = (stream: NodeJS.WriteStream) =>
  new Promise<Error | null | undefined>((resolve) => stream.write("", resolve));

/** Returns whether the text has an "@", also in full width, percent-encoded several times, as an entity or quoted-printable. */
export const mayHoldEmail = (text: string) => /[@＠﹫]|%(?:25)*40|&#0*64\b|&#x0*40\b|&commat|=40/i.test(text);

/** Errors of node-postgres that have no code. */
const codesByMessage: [RegExp, string][] = [
  [/^timeout (expired|exceeded)/, "CONNECT_TIMEOUT"],
  [/^Query read timeout/, "QUERY_TIMEOUT"],
  [/^Connection terminated|^Client has encountered a connection error/, "CONNECTION_LOST"],
];

/**
 * Returns the fields of a database error that may be logged: not its message, in which drivers quote values of the statement.
 * The code is Postgres' own; otherwise that of the driver or the system.
 */
export function errorFields(error: unknown) {
  const { name, code, message, meta } = error as {
    name: string;
    code?: string;
    message?: string;
    meta?: { driverAdapterError?: { cause?: { originalCode?: string; kind?: string } } };
  };
  // Prisma's own code says only that a raw query failed (P2010).
  const cause = meta?.driverAdapterError?.cause;
  const known = codesByMessage.find(([pattern]) => pattern.test(message ?? ""))?.[1];
  return { name, code: cause?.originalCode ?? cause?.kind ?? code ?? known };
}

/** Rejects with QUERY_TIMEOUT if the work takes longer. The work goes on. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(Object.assign(new Error("Postgres takes too long"), { code: "QUERY_TIMEOUT" }));
    const timer = setTimeout(giveUp, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Returns whether the text is valid percent-encoding of UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined; // The bundler would remove a call whose result is not used.
  } catch {
    return false;
  }
}

/** Control and format characters (but the joiners of Persian and emoji), lone surrogates, Unicode's line and paragraph separators. */
const invisible = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200C\u200D])\p{Cf}/gu;

/** Replaces each invisible character of a value by "?". Line breaks too: a value must not add lines to a message. */
export function printable(value: string): string {
  return value.replaceAll(invisible, "?");
}

export function printableLines(message: string): string {
  return message.split("\n").map(printable).join("\n");
}
