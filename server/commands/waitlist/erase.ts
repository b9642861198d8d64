// waitlist erase: the right to erasure (GDPR, article 17).
import type pg from "pg";
import { eraseEntries, requireErasureKey } from "../../database/erasures.ts";
import { OperatorError, printable, printableName } from "../../operator-messages.ts";
import { normaliseAddress } from "../../models/waitlist-entry.ts";
import { print } from "../print.ts";
import { spellings } from "./address.ts";
import type { Command } from "./command.ts";
import { withOwner } from "./owner.ts";

export const erase: Command = {
  summary: "permanently removes the entry of each ADDRESS",
  details: [
    "Removes all of the entries, or none if a text is neither an email address nor on the list.",
    "An address is normalised as in a sign-up: its case and the form of its domain do not matter. A second run",
    "finds no entry and succeeds. The status history stays: it holds the id of the entry, roles and times,",
    "but no personal data. Earlier backups and exports still hold the entry. With ERASURE_KEY, the database keeps the",
    "address as a keyed hash, also if the list has no such entry: neither restore nor import brings the entry back, and",
    "the person can still sign up again. Without ERASURE_KEY, erase the address again after each restore and import.",
  ].join("\n"),
  positionals: ["ADDRESS…"],
  options: {},
  run: ({ positionals: addresses }) =>
    withOwner(async (client, { erasureKey }) => {
      await requireErasureKey(client, erasureKey);
      const found = new Map<string, Entry[]>();
      for (const address of addresses) found.set(address, await findEntries(client, address));
      // A backup may have an entry that the list lacks.
      const unlisted = addresses.flatMap((address) => normaliseAddress(address) ?? []);
      const all = [...Array.from(found.values()).flat(), ...unlisted.map((email) => ({ id: null, email }))];
      // One statement erases all.
      await eraseEntries((sql, values) => client.query(sql, values), all, erasureKey);
      for (const [address, listed] of found) {
        const name = addresses.length > 1 ? `${printable(address)}: ` : "";
        for (const entry of listed) print(`${name}${describeErased(entry)}\n`);
        if (listed.length === 0) print(`${name}The list has no entry with this address.\n`);
      }
    }),
};

interface Entry {
  id: string;
  email: string;
  created: string;
  status: string;
  changes: number;
}

/** @throws OperatorError if the text is neither an address nor on the list. */
async function findEntries(client: pg.Client, address: string): Promise<Entry[]> {
  const { rows } = await client.query<Entry>(
    `SELECT id, email, to_char(created_at, 'YYYY-MM-DD') AS created, status::text,
            (SELECT count(*)::int FROM public.earlyaccess_status_changes WHERE entry_id = listed.id) AS changes
     FROM public.earlyaccess AS listed WHERE email = ANY ($1)`,
    [spellings(address)],
  );
  if (rows.length > 0 || normaliseAddress(address)) return rows;
  throw new OperatorError(`"${printableName(address)}" is not an email address. Nothing was removed.`);
}

function describeErased({ created, status, changes }: Entry): string {
  const removed = `Removed 1 entry of ${created} with status ${status}.`;
  if (changes === 0) return removed;
  const trace = changes === 1 ? "Its 1 status change stays" : `Its ${changes} status changes stay`;
  return `${removed} ${trace}, without personal data.`;
}
