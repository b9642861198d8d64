// npm run migrate: applies migrations and rights to the configured database, or prints what an administrator runs before it.
import { readRole } from "../config/database-urls.ts";
import { connectTo } from "../database/connect.ts";
import { migrate } from "../database/migrate.ts";
import { examineWebRole, preparationSql } from "../database/roles.ts";
import { OperatorError } from "../errors.ts";
import { print, runCommand } from "./command.ts";

await runCommand("DATABASE_URL", async (database, { ALLOW_PRIVILEGED_ROLE: allowPrivilegedRole }) => {
  if (process.argv.includes("--print-sql")) return print(preparationSql(database));
  const applied = await migrate(database, { allowPrivilegedRole });
  const owner = readRole(database.ownerUrl).name;
  if (!applied) {
    throw new OperatorError(`Nothing was migrated: "${owner}" may not migrate. Name the owner in DATABASE_OWNER_URL.`);
  }
  // The site serves its pages without the role, and other commands need none: the roles below stop only their own programs.
  const examined = examineWebRole(database.webUrl, allowPrivilegedRole);
  const warning = await examined.catch(({ message }: Error) => `Sign-ups get 503: ${message}`);
  const lines = [...applied.map((name) => `Applied ${name}.`), ...(warning ? [`Warning: ${warning}`] : [])];
  print(`${lines.join("\n") || "The database is up to date."}\n`);
  // If a password was changed in one place only, the site would start and could store nothing.
  for (const url of [database.adminUrl, database.worker?.url]) {
    if (url) await (await connectTo(url, "SELECT")).end();
  }
});
