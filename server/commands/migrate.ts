// npm run migrate: applies migrations and rights to the configured database.
import { connectTo } from "../database/connect.ts";
import { migrate } from "../database/migrate.ts";
import { OperatorError } from "../errors.ts";
import { print, runCommand } from "./command.ts";

await runCommand("DATABASE_URL", async (database, config) => {
  const { applied, warnings } = await migrate(database, config.ALLOW_PRIVILEGED_ROLE);
  const lines = [
    ...(applied ?? []).map((name) => `Applied ${name}.`),
    ...warnings.map((warning) => `Warning: ${warning}`),
  ];
  if (!applied) {
    const reason = "Nothing was migrated. Set DATABASE_OWNER_URL to the owner's connection.";
    throw new OperatorError([...lines, reason].join("\n"));
  }
  // If a password was changed in one place only, the site would start and could store nothing.
  for (const url of [database.webUrl, database.adminUrl, database.worker?.url]) {
    if (url) await (await connectTo(url, "SELECT")).end();
  }
  print(`${lines.join("\n") || "The database is up to date."}\n`);
});
