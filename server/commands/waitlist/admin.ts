// waitlist admin: the personal logins of those who use Prisma Studio.
import type pg from "pg";
import { addAdmin, listAdmins, removeAdmin } from "../../database/admins.ts";
import { requireAdminUrl } from "../../database/open.ts";
import { readRole } from "../../database/roles.ts";
import { OperatorError } from "../../operator-error.ts";
import { printableName } from "../../printable.ts";
import { UsageError } from "../command.ts";
import { print } from "../print.ts";
import type { Command } from "./command.ts";
import { migrateHint, withOwner } from "./owner.ts";

export const admin: Command = {
  summary: "adds, lists and removes the personal logins of admins",
  details: [
    "ACTION is add, list or remove. A login may do what the role of DATABASE_ADMIN_URL may: read entries and the trace",
    "of status changes, change a status, delete entries. The trace names the login. Its password is shown only once.",
    "Open Studio with it: DATABASE_ADMIN_URL=postgresql://NAME:PASSWORD@HOST/DATABASE npm run studio",
  ].join("\n"),
  positionals: ["ACTION", "[NAME]"],
  options: {},
  run: async ({ positionals: [action = "", name] }) => {
    if (!["add", "list", "remove"].includes(action)) {
      throw new UsageError(`admin does not know "${printableName(action)}". It knows add, list and remove.`);
    }
    if ((action === "list") !== (name === undefined)) {
      throw new UsageError(action === "list" ? "admin list takes no NAME." : `admin ${action} needs NAME.`);
    }
    await withOwner(async (client, database) => {
      const group = await requireGroup(client, requireAdminUrl(database));
      if (name === undefined) {
        for (const login of await listAdmins(client, group)) print(`${login}\n`);
      } else if (action === "add") {
        const password = await addAdmin(client, group, name);
        print(`Added ${name}. Its password, which is not shown again:\n${password}\n`);
      } else {
        await removeAdmin(client, group, name);
        print(`Removed ${name}. Its status changes stay in the trace.\n`);
      }
    });
  },
};

/** @throws OperatorError if the role does not exist. */
async function requireGroup(client: pg.Client, adminUrl: string): Promise<string> {
  const { name } = readRole(adminUrl);
  const { rowCount } = await client.query("SELECT FROM pg_roles WHERE rolname = $1", [name]);
  if (!rowCount) throw new OperatorError(`There is no role "${printableName(name)}" yet. ${migrateHint}`);
  return name;
}
