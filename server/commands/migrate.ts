// npm run migrate: brings the configured database up to date without starting the site.
import { connectTo, migrate } from "../database/migrate.ts";
import { readRole } from "../database/roles.ts";
import { formatFinding } from "../database/role-findings.ts";
import { OperatorError } from "../operator-error.ts";
import { printable } from "../printable.ts";
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
  // If a password was changed in one place only, the site would start and store nothing.
  for (const url of [database.webUrl, database.adminUrl, database.senderUrl]) {
    if (url) await (await connectTo(url)).end();
  }
  print(`${lines.join("\n") || "The database is up to date."}\n`);
});
