// npm run migrate: applies migrations and grants to the configured database.
import { connectTo } from "../database/client.ts";
import { migrate } from "../database/migrate.ts";
import { readRole } from "../database/roles/site-roles.ts";
import { formatFinding } from "../database/roles/finding.ts";
import { OperatorError, printable } from "../operator-messages.ts";
import { runCommand } from "./command.ts";
import { print } from "./print.ts";

await runCommand(async (database, { allowPrivilegedRole }) => {
  const { applied, rights, webRole, findings } = await migrate(database, allowPrivilegedRole);
  const lines = [
    ...applied.map((name) => `Applied ${name}.`),
    ...rights.map((sql) => `Ran: ${printable(sql)};`),
    ...findings.map((finding) => `Warning: ${formatFinding(finding)}`),
  ];
  if (webRole === "unprivileged") {
    const role = readRole(database.ownerUrl).name;
    const reason = `The role "${role}" may not migrate. Set DATABASE_OWNER_URL to the owner's connection.`;
    throw new OperatorError([...lines, reason].join("\n"));
  }
  // If a password was changed in one place only, the site would start and could store nothing.
  for (const url of [database.webUrl, database.adminUrl, database.worker?.url]) {
    if (url) await (await connectTo(url)).end();
  }
  print(`${lines.join("\n") || "The database is up to date."}\n`);
});
