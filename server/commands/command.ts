// What every command does around its work: opens the configured database, lets go of it, and says faults in a sentence.
import { loadConfig } from "../config.ts";
import { openDatabase, type OpenedDatabase } from "../database/open.ts";
import { explain } from "../operator-error.ts";

/** Ends with exit code 1 where the work throws. */
export async function runCommand(work: (database: OpenedDatabase) => Promise<void>): Promise<void> {
  try {
    const database = await openDatabase(loadConfig());
    try {
      await work(database);
    } finally {
      await database.release();
    }
  } catch (error) {
    process.stderr.write(explain(error));
    process.exitCode = 1;
  }
  process.exit(); // The schema engine leaves a timer of 10 s behind.
}
