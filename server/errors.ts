// Errors for operators and clients, and what a terminal or a log may show of an error and of a text.

/** An error that the operator can repair. Its message says how, in whole sentences. */
export class OperatorError extends Error {
  override name = "OperatorError";
  /** The code of Postgres, the driver or the system. */
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
  "Migrate: docker compose run --rm --no-deps migrate, npm run migrate, or in the image node dist/server/migrate.js.";

/** Returns what to print of an error: of one for the operator, its message; of a fault, its stack. */
export function explain(error: unknown): string {
  const text = error instanceof OperatorError ? error.message : String(error instanceof Error ? error.stack : error);
  return printableLines(text);
}

/** Writes the error to stderr. The process will end with exit code 1. */
export function fail(error: unknown): void {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}

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

/** Control and format characters (but the joiners of Persian and emoji), lone surrogates, Unicode's line and paragraph separators. */
const invisible = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200C\u200D])\p{Cf}/gu;

/** Replaces each invisible character of a value by "?". Line breaks too: a value must not add lines to a message. */
export function printable(value: string): string {
  return value.replaceAll(invisible, "?");
}

export function printableLines(message: string): string {
  return message.split("\n").map(printable).join("\n");
}

/** Returns whether the text has an "@", also in full width, percent-encoded several times, as an entity or quoted-printable. */
export const mayHoldEmail = (text: string) => /[@＠﹫]|%(?:25)*40|&#0*64\b|&#x0*40\b|&commat|=40/i.test(text);

/** Returns the start of a text that a client sent: whole ones of 15 KB would soon rotate all other lines of a log away. */
export const loggable = (text: string | undefined) => text?.slice(0, 200);

/** Returns what may be logged of a path. It may hold an email address or, in a link that a mail program encoded, its secret. */
export function loggablePath(path: string): string | undefined {
  if (mayHoldEmail(path)) return "[address]";
  return /[\da-f]{32}/i.test(path) ? "[link]" : loggable(path);
}
