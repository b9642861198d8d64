// waitlist erase: the right to erasure (GDPR, article 17), and those who unsubscribed elsewhere.
import { readFile } from "node:fs/promises";
import { requireErasureKey } from "../../database/erasure-key.ts";
import { eraseEntries, findPeople, type Person } from "../../models/erasures.ts";
import { normaliseAddress } from "../../models/waitlist-entry.ts";
import { OperatorError, printable, printableName } from "../../operator-messages.ts";
import { count, countEntries, print, UsageError } from "../command.ts";
import type { Command } from "./arguments.ts";
import { withOwner } from "./owner.ts";
import { explainCode } from "./private-file.ts";

export const erase: Command = {
  summary: "permanently removes the entry of each ADDRESS",
  details: [
    "Removes all of the entries, or none if a text is neither an email address nor on the list. The status history stays: it",
    "holds the id of the entry, roles and times, but no personal data. Earlier backups and exports still hold the entry.",
    "With ERASURE_KEY, the database keeps the address as a keyed hash, also if the list has no such entry: neither a restore",
    "with purge nor import brings the entry back, and the person can still sign up again. Without it, erase the address again",
    "after each restore and import.",
  ].join("\n"),
  positionals: ["[ADDRESS]…"],
  options: { file: { value: "FILE", description: "erase the addresses in FILE, one a line, and print numbers only" } },
  run: async ({ positionals, value }) => {
    const file = value("file");
    if ((file === undefined) === (positionals.length === 0)) {
      throw new UsageError("erase needs either addresses or --file FILE. See: waitlist erase --help");
    }
    const addresses = file === undefined ? positionals : await readLines(file);
    await withOwner(async (client, { erasureKey }) => {
      await requireErasureKey(client, erasureKey);
      const found = new Map<string, Person[]>();
      for (const address of addresses) found.set(address, await findPeople(client, address));
      const invalid = addresses.find((address) => found.get(address)?.length === 0 && !normaliseAddress(address));
      if (invalid !== undefined) {
        throw new OperatorError(`"${printableName(invalid)}" is not an email address. Nothing was removed.`);
      }
      const listed = Array.from(found.values()).flatMap((people) => people.map(({ entry }) => entry));
      // A backup may have an entry that the list lacks.
      const unlisted = addresses.flatMap((address) => normaliseAddress(address) ?? []);
      const all = [...listed, ...unlisted.map((email) => ({ id: null, email }))];
      // One statement erases all.
      await eraseEntries(client, all, erasureKey);
      if (file === undefined) return describe(found);
      const missing = Array.from(found.values()).filter((people) => people.length === 0).length;
      const removed = countEntries(new Set(listed.map(({ id }) => id)).size);
      print(`Removed ${removed}. Addresses that are not on the list: ${count(missing)}.\n`);
    });
  },
};

/** Returns the lines that are not blank. */
async function readLines(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(({ code }: NodeJS.ErrnoException) => {
    throw new OperatorError(`${printable(path)} cannot be read: ${explainCode(code)}`);
  });
  return text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
}

function describe(found: Map<string, Person[]>): void {
  for (const [address, people] of found) {
    const name = found.size > 1 ? `${printable(address)}: ` : "";
    for (const person of people) print(`${name}${describeErased(person)}\n`);
    if (people.length === 0) print(`${name}The list has no entry with this address.\n`);
  }
}

function describeErased({ entry, status_changes: { length } }: Person): string {
  const removed = `Removed 1 entry of ${entry.created_at.slice(0, 10)} with status ${entry.status}.`;
  if (length === 0) return removed;
  return `${removed} Its ${length === 1 ? "1 status change stays" : `${length} status changes stay`}, without personal data.`;
}
