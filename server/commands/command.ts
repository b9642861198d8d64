// The frame of every command: opens and releases the database, prints errors, sets the exit code.
import { loadConfig, type Config } from "../config.ts";
import { openDatabase, type OpenedDatabase } from "../database/connect.ts";
import { explain, OperatorError } from "../operator-messages.ts";

/** The command line is invalid; the exit code is 2. */
export class UsageError extends OperatorError {
  override name = "UsageError";
}

type Work = (database: OpenedDatabase, config: Config) => Promise<void>;

/** Runs the work on the configured database, then ends the process. */
export async function runCommand(work: Work): Promise<void> {
  await conclude(() => withDatabase(work));
}

/** Opens the configured database for the work, and releases it afterwards. */
export async function withDatabase(work: Work): Promise<void> {
  const config = loadConfig();
  const database = await openDatabase(config);
  try {
    await work(database, config);
  } finally {
    await database.release();
  }
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
