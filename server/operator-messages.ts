// Messages for the operator: errors in one sentence, and text that is safe to write to a terminal.
export class OperatorError extends Error {
  override name = "OperatorError";
  /** Of Postgres, the driver or the system: an error with a transient code is worth another try. */
  readonly code: string | undefined;

  constructor(message: string, { cause, code }: { cause?: unknown; code?: string | undefined } = {}) {
    super(message, { cause });
    this.code = code;
  }
}

export const migrateHint =
  "Migrate: npm run migrate; docker compose run --rm --no-deps migrate; or node dist/server/migrate.js in the image.";

export function explain(error: unknown): string {
  if (error instanceof OperatorError) return `${printableLines(error.message)}\n`;
  return `${printableLines(String(error instanceof Error ? error.stack : error))}\n`;
}

/** Control and format characters, lone surrogates, and Unicode's line and paragraph separators. */
export const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const longestName = 100;
const mostNames = 20;

/** Replaces each invisible character of a value by "?". Line breaks too: a value must not add lines to a message. */
export function printable(value: string): string {
  return value.replaceAll(invisible, "?");
}

/** Like printable, but keeps the line breaks of a message. */
export function printableLines(message: string): string {
  return message.split("\n").map(printable).join("\n");
}

/** Like printable, but cuts a name or option after 100 characters. */
export function printableName(name: string): string {
  return printable(name.length > longestName ? `${name.slice(0, longestName)}…` : name);
}

/** Joins at most 20 names and counts the others. */
export function listNames(names: string[]): string {
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : "";
  return names.slice(0, mostNames).map(printableName).join(", ") + more;
}
