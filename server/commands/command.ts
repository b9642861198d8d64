// The frame of every command: prints text without control characters, explains errors, sets the exit code.
import { withDatabase } from "../database/settings.ts";
import { explain, OperatorError, printableLines } from "../operator-messages.ts";

/** The command line is invalid; the exit code is 2. */
export class UsageError extends OperatorError {
  override name = "UsageError";
}

/** Runs the work on the configured database, then ends the process. */
export async function runCommand(work: Parameters<typeof withDatabase>[0]): Promise<void> {
  await conclude(() => withDatabase(work));
}

/** Ends the process after the work, with exit code 2 after a UsageError and 1 after any other error. */
export async function conclude(work: () => Promise<void>): Promise<void> {
  let stdoutError: NodeJS.ErrnoException | undefined;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The reader closed the pipe, as `head` does, or the disk is full. The work continues: otherwise an import would be incomplete.
    stdoutError ??= error;
    process.exitCode = 1;
  });
  try {
    await work();
  } catch (error) {
    if (error !== stdoutError) process.stderr.write(explain(error));
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
  if (stdoutError && stdoutError.code !== "EPIPE") {
    process.stderr.write(`Standard output cannot be written: ${stdoutError.code}\n`);
  }
  process.exit();
}

/** Keeps line breaks, and replaces every other control character by "?". */
export function print(text: string): void {
  process.stdout.write(printableLines(text));
}

/** 1234567 as 1,234,567. */
export function count(number: number): string {
  return number.toLocaleString("en");
}

/** For example "1 entry", "2,000 entries". */
export function countEntries(number: number): string {
  return `${count(number)} ${number === 1 ? "entry" : "entries"}`;
}

/** For example "1 person", "2,000 people". */
export function countPeople(number: number): string {
  return `${count(number)} ${number === 1 ? "person" : "people"}`;
}
