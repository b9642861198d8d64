// npm run migrate: brings the configured database up to date without starting the site.
import { migrate } from "../database/migrate.ts";
import { OperatorError } from "../operator-error.ts";
import { runCommand } from "./command.ts";

await runCommand(async (database) => {
  const { applied, rights, webRole } = await migrate(database);
  if (webRole === "unprivileged") {
    throw new OperatorError(
      "The role of DATABASE_URL may not migrate. Set DATABASE_OWNER_URL to the owner's connection.",
    );
  }
  const lines = [...applied.map((name) => `Applied ${name}.`), ...rights.map((sql) => `Ran: ${sql};`)];
  process.stdout.write(`${lines.join("\n") || "The database is up to date."}\n`);
});
