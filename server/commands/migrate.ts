// npm run migrate: applies migrations and rights to the configured database.
import { connectTo } from "../database/connect.ts";
import { mayNotMigrate, migrate } from "../database/migrate.ts";
import { examineWebRole, requireRestricted } from "../database/roles.ts";
import { OperatorError } from "../errors.ts";
import { print, runCommand } from "./command.ts";

await runCommand("DATABASE_URL", async (database, { ALLOW_PRIVILEGED_ROLE }) => {
  const applied = await migrate(database, ALLOW_PRIVILEGED_ROLE);
  if (!applied) throw new OperatorError(`Nothing was migrated: ${mayNotMigrate(database.ownerUrl)}`);
  // The site serves its pages without the role, and other commands need none: the roles below stop only their own programs.
  const webRole = await examineWebRole(database.webUrl).catch(({ message }: Error) => ({
    isPrivileged: false,
    warning: `Sign-ups get 503: ${message}`,
  }));
  const warning = requireRestricted(webRole, ALLOW_PRIVILEGED_ROLE);
  const lines = [...applied.map((name) => `Applied ${name}.`), ...(warning ? [`Warning: ${warning}`] : [])];
  print(`${lines.join("\n") || "The database is up to date."}\n`);
  // If a password was changed in one place only, the site would start and could store nothing.
  for (const url of [database.adminUrl, database.worker?.url]) {
    if (url) await (await connectTo(url, "SELECT")).end();
  }
});
