// The owner's connection for a command; a signal closes it, so that the command cleans up and ends.
import type pg from "pg";
import { errorFields } from "../../logger.ts";
import { describeLoss, withConnection } from "../../database/connect.ts";
import { withDatabase, type OpenedDatabase } from "../../database/settings.ts";
import type { Config } from "../../config.ts";
import { OperatorError } from "../../operator-messages.ts";

export const migrateHint =
  "Migrate: npm run migrate; docker compose run --rm --no-deps migrate; or node dist/server/migrate.js in the image.";

/**
 * Connects to the configured database as its owner, and disconnects after the work.
 * @throws OperatorError if Postgres is unreachable, a table or right is missing, or a signal arrived.
 */
export async function withOwner(
  work: (client: pg.Client, database: OpenedDatabase, config: Config) => Promise<void>,
): Promise<void> {
  await withDatabase(async (database, config) => {
    await withConnection(database.ownerUrl, async (client) => {
      let signal: NodeJS.Signals | undefined;
      const interrupt = (name: NodeJS.Signals) => {
        signal = name;
        void client.end();
      };
      process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
      try {
        // Export and stats write dates in UTC, whatever the server's time zone is.
        await client.query("SET timezone = 'UTC'");
        await work(client, database, config);
      } catch (error) {
        if (!signal) throw toOperatorError(error);
        // The message of the command, such as the outcome of an import, is still true.
        const more = error instanceof OperatorError ? ` ${error.message}` : "";
        throw new OperatorError(`Ended by ${signal}.${more}`);
      } finally {
        process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
      }
    });
  });
}

function toOperatorError(error: unknown): unknown {
  const { code } = errorFields(error);
  // undefined_table, undefined_column
  if (code === "42P01" || code === "42703") return new OperatorError(`The database is not up to date. ${migrateHint}`);
  if (code === "42501") {
    return new OperatorError("This role may not do that. Set DATABASE_OWNER_URL to the owner's connection.");
  }
  if (code === "57P01") return describeLoss(error);
  return error;
}
