// waitlist admin: personal logins for Prisma Studio.
import { addAdmin, removeAdmin } from "../../database/roles/admins.ts";
import { listAdmins } from "../../database/roles/site-roles.ts";
import { printableName } from "../../operator-messages.ts";
import { UsageError } from "../command.ts";
import { print } from "../print.ts";
import type { Command } from "./command.ts";
import { withOwner } from "./owner.ts";

export const admin: Command = {
  summary: "adds, lists and removes the personal logins of admins",
  details: [
    "ACTION is add, list or remove. A login has the rights of the role in DATABASE_ADMIN_URL: read entries and the trace",
    "of status changes, change a status or a batch, delete entries. The trace names the login. add prints its password once.",
    "With DATABASE_URL set, open Studio with it: DATABASE_ADMIN_URL=postgresql://NAME:PASSWORD@HOST/DATABASE npm run studio",
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
    await withOwner(async (client) => {
      if (name === undefined) {
        for (const login of await listAdmins(client)) print(`${login}\n`);
      } else if (action === "add") {
        const password = await addAdmin(client, name);
        print(`Added ${name}. Its password, which is not shown again:\n${password}\n`);
      } else {
        await removeAdmin(client, name);
        print(`Removed ${name}. Its status changes stay in the trace.\n`);
      }
    });
  },
};
