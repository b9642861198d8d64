// The frame of every command: prints errors, sets the exit code.
import { withDatabase } from "../database/connect.ts";
import { explain, OperatorError } from "../operator-messages.ts";

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
