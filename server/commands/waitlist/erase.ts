// waitlist erase: the right to erasure (GDPR, article 17) for one address.
import { OperatorError } from "../../operator-error.ts";
import { normaliseAddress } from "../../models/waitlist-entry.ts";
import { print } from "../print.ts";
import type { Command } from "./command.ts";
import { withOwner } from "./owner.ts";

export const erase: Command = {
  summary: "removes whoever signed up with ADDRESS, for good",
  details: [
    "The address is read as a sign-up reads it, so neither its case nor the form of its domain matters.",
    "Once done, a second time finds nobody and is no fault. The trace of status changes stays: it holds the",
    "number of an entry, roles and times, and nothing of a person. Backups and exports made before still hold",
    "the entry: erase again after you restore one.",
  ].join("\n"),
  positionals: ["ADDRESS"],
  options: {},
  run: async ({ positionals: [address = ""] }) => {
    const normalised = normaliseAddress(address);
    // Studio takes what a sign-up would refuse, and that can be erased as well.
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
        const removed = `Removed 1 entry with everything in it: of ${created}, status ${status}.`;
        print(`${removed}${changes ? ` ${trace} and names nobody.` : ""}\n`);
      }
      if (rows.length > 0) return;
      if (!normalised) throw new OperatorError("That is not an email address, and nothing was removed.");
      print("There was no entry with this address.\n");
    });
  },
};
