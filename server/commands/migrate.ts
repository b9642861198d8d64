// npm run migrate: applies migrations and rights to the configured database, or prints what an administrator runs before it.
import { readRole } from "../config/database-urls.ts";
import { connectTo, describeFault } from "../database/connect.ts";
import { migrate } from "../database/migrate.ts";
import { preparationSql } from "../database/roles.ts";
import { examineWebRole } from "../database/web-role.ts";
import { webStatements } from "../models/waitlist.ts";
import { print, runCommand } from "./command.ts";

await runCommand("DATABASE_URL", async (database, { ALLOW_PRIVILEGED_ROLE: allowPrivilegedRole }) => {
  if (process.argv.includes("--print-sql")) return print(preparationSql(database));
  const applied = await migrate(database, { allowPrivilegedRole });
  const { webUrl, adminUrl, worker } = database;
  // A role that cannot log in stops its own program only. It may have changed its password or its settings itself.
  const warnings = [
    await examineWebRole(webUrl, allowPrivilegedRole, webStatements).catch(
      (error: unknown) => `Sign-ups get 503: ${describeFault(error, webUrl)}`,
    ),
    await tryLogin("DATABASE_ADMIN_URL", adminUrl),
    await tryLogin("WORKER_DATABASE_URL", worker?.url),
  ].filter(Boolean);
  const lines = [...applied.map((name) => `Applied ${name}.`), ...warnings.map((warning) => `Warning: ${warning}`)];
  print(`${lines.join("\n") || "The database is up to date."}\n`);
});

/** Returns why the role of the URL cannot log in, and what to do, or "". */
async function tryLogin(setting: string, url: string | undefined): Promise<string> {
  if (!url) return "";
  return connectTo(url, "SELECT").then(
    (client) => client.end().then(() => ""),
    (error: unknown) => `The role of ${setting}, "${readRole(url).name}", cannot log in: ${describeFault(error, url)}`,
  );
}
