// waitlist erase: the right to erasure (GDPR, article 17), for one address.
import type pg from "pg";
import { eraseEntries, requireErasureKey } from "../../database/erasures.ts";
import { OperatorError } from "../../operator-messages.ts";
import { normaliseAddress } from "../../models/waitlist-entry.ts";
import { print } from "../print.ts";
import { spellings } from "./address.ts";
import type { Command } from "./command.ts";
import { withOwner } from "./owner.ts";

export const erase: Command = {
  summary: "permanently removes the entry of ADDRESS",
  details: [
    "The address is normalised as in a sign-up: its case and the form of its domain do not matter. A second run",
    "finds no entry and succeeds. The trace of status changes stays: it holds the id of the entry, roles and times,",
    "but no personal data. Earlier backups and exports still hold the entry. With ERASURE_KEY, the database keeps the",
    "address as a keyed hash, also if the list has no such entry: neither restore nor import brings the entry back, and",
    "the person can still sign up again. Without ERASURE_KEY, erase the address again after each restore and import.",
  ].join("\n"),
  positionals: ["ADDRESS"],
  options: {},
  run: async ({ positionals: [address = ""] }) => {
    const normalised = normaliseAddress(address);
    await withOwner(async (client, { erasureKey }) => {
      await requireErasureKey(client, erasureKey);
      const listed = await findEntries(client, address);
      const unlisted = normalised ? [{ id: null, email: normalised }] : [];
      await eraseEntries((sql, values) => client.query(sql, values), [...listed, ...unlisted], erasureKey);
      for (const { created, status, changes } of listed) {
        const trace = changes === 1 ? "Its 1 status change stays" : `Its ${changes} status changes stay`;
        const removed = `Removed 1 entry of ${created} with status ${status}.`;
        print(`${removed}${changes ? ` ${trace}, without personal data.` : ""}\n`);
      }
      if (listed.length > 0) return;
      if (!normalised) throw new OperatorError("This is not an email address. Nothing was removed.");
      print("The list has no entry with this address.\n");
    });
  },
};

interface Erased {
  id: string;
  email: string;
  created: string;
  status: string;
  changes: number;
}

async function findEntries(client: pg.Client, address: string): Promise<Erased[]> {
  const { rows } = await client.query<Erased>(
    `SELECT id, email, to_char(created_at, 'YYYY-MM-DD') AS created, status::text,
            (SELECT count(*)::int FROM public.earlyaccess_status_changes WHERE entry_id = listed.id) AS changes
     FROM public.earlyaccess AS listed WHERE email = ANY ($1)`,
    [spellings(address)],
  );
  return rows;
}
