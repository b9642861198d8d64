// npm run migrate: brings the configured database up to date without starting the site.
import { loadConfig } from "../config.ts";
import { migrate } from "../database/migrate.ts";
import { openDatabase } from "../database/open.ts";

try {
  const database = await openDatabase(loadConfig());
  try {
    const { applied, webRole } = await migrate(database);
    if (webRole === "unprivileged") throw new Error("DATABASE_URL's role may not migrate; set DATABASE_OWNER_URL.");
    process.stdout.write(applied.length > 0 ? `Applied ${applied.join(", ")}.\n` : "The database is up to date.\n");
  } finally {
    await database.release();
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
