// Errors for operators and clients, and what may be logged of an error.
import { printableLines } from "./text.ts";

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

/** Resolves when the stream's output is written, or with the error: process.exit() drops what a pipe did not take yet. */
export const written = (stream: NodeJS.WriteStream) =>
  new Promise<Error | null | undefined>((resolve) => stream.write("", resolve));

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
