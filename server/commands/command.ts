// What every command does around its work: opens the configured database, lets go of it, and says faults in a sentence.
import { loadConfig, type Config } from "../config.ts";
import { openDatabase, type OpenedDatabase } from "../database/open.ts";
import { explain, OperatorError } from "../operator-error.ts";

/** The command line asks for something that there is not; ends with exit code 2, as is usual. */
export class UsageError extends OperatorError {
  override name = "UsageError";
}

type Work = (database: OpenedDatabase, config: Config) => Promise<void>;

/** Runs the work on the configured database. Ends with exit code 1 where it throws. */
export async function runCommand(work: Work): Promise<void> {
  await conclude(() => withDatabase(work));
}

/** Opens the configured database for the work. */
export async function withDatabase(work: Work): Promise<void> {
  const config = loadConfig();
  for (const warning of config.warnings) process.stderr.write(`Warning: ${warning}\n`);
  const database = await openDatabase(config);
  try {
    await work(database, config);
  } finally {
    await database.release();
  }
}

/** Ends the process after the work: with exit code 2 if the command line was wrong, 1 after any other fault. */
export async function conclude(work: () => Promise<void>): Promise<void> {
  let closedPipe: unknown;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    // The reader has enough, as `head` does. The work goes on: an import that stopped here would be incomplete.
    closedPipe = error;
    process.exitCode = 1;
  });
  try {
    await work();
  } catch (error) {
    if (error !== closedPipe) process.stderr.write(explain(error));
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
  process.exit(); // The schema engine leaves a timer of 10 s behind.
}
