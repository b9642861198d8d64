// The owner's connection for a command, which a signal ends so that the command tidies up and ends as well.
import type pg from "pg";
import { errorFields } from "../../database/error-fields.ts";
import { connectTo } from "../../database/migrate.ts";
import type { OpenedDatabase } from "../../database/open.ts";
import { OperatorError } from "../../operator-error.ts";
import { withDatabase } from "../command.ts";

export const migrateHint =
  "Migrate: npm run migrate; docker compose run --rm --no-deps migrate; or node dist/server/migrate.js in the image.";

/**
 * Opens the configured database as its owner.
 * @throws OperatorError where it cannot be reached, lacks the table, or a signal came.
 */
export async function withOwner(work: (client: pg.Client, database: OpenedDatabase) => Promise<void>): Promise<void> {
  await withDatabase(async (database) => {
    const client = await reach(database.ownerUrl);
    let signal: NodeJS.Signals | undefined;
    const interrupt = (name: NodeJS.Signals) => {
      signal = name;
      void client.end();
    };
    process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
    try {
      // Dates are written and counted in UTC, whatever the server's own time zone is.
      await client.query("SET timezone = 'UTC'");
      await work(client, database);
    } catch (error) {
      if (!signal) throw inWords(error);
      // What the command says itself, such as what became of its changes, is still true.
      const more = error instanceof OperatorError ? ` ${error.message}` : "";
      throw new OperatorError(`Ended by ${signal}.${more}`);
    } finally {
      process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
      await client.end();
    }
  });
}

/** @throws OperatorError where nothing answers. */
export async function reach(url: string): Promise<pg.Client> {
  try {
    return await connectTo(url);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    // Of a database error only the code: drivers quote what they were given.
    const reason = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
    throw new OperatorError(`Postgres at ${new URL(url).host} cannot be reached: ${reason}`, { cause: error });
  }
}

function inWords(error: unknown): unknown {
  const { code } = errorFields(error);
  // A table or a column is missing.
  if (code === "42P01" || code === "42703") return new OperatorError(`The database is not up to date. ${migrateHint}`);
  if (code === "42501") {
    return new OperatorError("This role may not do that. Set DATABASE_OWNER_URL to the owner's connection.");
  }
  if (code === "CONNECTION_LOST" || code === "57P01") {
    return new OperatorError("The connection to Postgres was lost.", { cause: error });
  }
  return error;
}
