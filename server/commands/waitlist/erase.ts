// waitlist erase: the right to erasure (GDPR, article 17), for one address.
import { OperatorError } from "../../operator-messages.ts";
import { normaliseAddress } from "../../models/waitlist-entry.ts";
import { print } from "../print.ts";
import type { Command } from "./command.ts";
import { withOwner } from "./owner.ts";

export const erase: Command = {
  summary: "permanently removes the entry of ADDRESS",
  details: [
    "The address is normalised as in a sign-up: its case and the form of its domain do not matter. A second run",
    "finds no entry and succeeds. The trace of status changes stays: it holds the id of the entry, roles and times,",
    "but no personal data. Earlier backups and exports still hold the entry: after a restore, erase it again.",
  ].join("\n"),
  positionals: ["ADDRESS"],
  options: {},
  run: async ({ positionals: [address = ""] }) => {
    const normalised = normaliseAddress(address);
    // Studio accepts addresses that a sign-up refuses; these can be erased too.
    const spellings = [normalised ?? "", address.trim().normalize("NFC").toLowerCase()];
    await withOwner(async (client) => {
      const { rows } = await client.query<{ created: string; status: string; changes: number }>(
        `WITH erased AS (DELETE FROM public.earlyaccess WHERE email = ANY ($1) RETURNING id, created_at, status)
         SELECT to_char(created_at, 'YYYY-MM-DD') AS created, status::text,
                (SELECT count(*)::int FROM public.earlyaccess_status_changes WHERE entry_id = erased.id) AS changes
         FROM erased`,
        [spellings],
      );
      for (const { created, status, changes } of rows) {
        const trace = changes === 1 ? "Its 1 status change stays" : `Its ${changes} status changes stay`;
        const removed = `Removed 1 entry of ${created} with status ${status}.`;
        print(`${removed}${changes ? ` ${trace}, without personal data.` : ""}\n`);
      }
      if (rows.length > 0) return;
      if (!normalised) throw new OperatorError("This is not an email address. Nothing was removed.");
      print("The list has no entry with this address.\n");
    });
  },
};
