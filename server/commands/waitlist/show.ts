// waitlist show: everything that is kept about a person (GDPR, article 15).
import type pg from "pg";
import { hashAddress, hasErasures } from "../../database/erasures.ts";
import { invisible, OperatorError, printable, printableName } from "../../operator-messages.ts";
import { normaliseAddress } from "../../models/waitlist-entry.ts";
import { UsageError } from "../command.ts";
import { print } from "../print.ts";
import type { Command } from "./command.ts";
import { withOwner } from "./owner.ts";
import { describeOrigin, describeRows, findPeople, formatTime, type Person } from "./person.ts";

export const show: Command = {
  summary: "prints everything that is kept about the person with ADDRESS",
  details: [
    "Prints all columns of the entry, where it came from, and each change of its status with the database role that made it.",
    "Times are in UTC, hashes in hexadecimal. json is a list with one object per entry; it also has the text of the privacy",
    "notice, which proof prints. With ERASURE_KEY, show says whether the database keeps the address as erased.",
  ].join("\n"),
  positionals: ["ADDRESS"],
  options: { format: { value: "FORMAT", description: "text (the default) or json" } },
  run: async ({ positionals: [address = ""], value }) => {
    const format = value("format") ?? "text";
    if (format !== "text" && format !== "json") {
      throw new UsageError(`--format is "${printableName(format)}" but must be text or json.`);
    }
    await withOwner(async (client, { erasureKey }) => {
      const people = await findPeople(client, address);
      const erased = erasureKey && (await findErasure(client, address, erasureKey));
      const note = erased ? ` The address was erased at ${formatTime(erased)}; the database keeps its hash.` : "";
      if (people.length === 0) throw new OperatorError(`The list has no entry with this address.${note}`);
      print(format === "json" ? toJson(people) : people.map(describePerson).join("\n"));
      if (note) process.stderr.write(`${note.trim()}\n`);
    });
  },
};

function describePerson(person: Person): string {
  const rows = Object.entries(person.entry);
  const changes = person.status_changes.map(
    ({ changed_at, changed_by, old_status, new_status }) =>
      `${formatTime(changed_at)}  ${old_status} → ${new_status} by ${printable(changed_by)}\n`,
  );
  const trace = changes.length > 0 ? `\nStatus changes:\n${changes.join("")}` : "\nNo status changes.\n";
  return describeRows([...rows, ["origin", describeOrigin(person)]]) + trace;
}

/** Escapes what print would replace, so that the text stays exact. */
function toJson(people: Person[]): string {
  const escape = (character: string) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join("");
  const json = JSON.stringify(people, null, 2);
  return `${json.replaceAll(invisible, (character) => (character === "\n" ? character : escape(character)))}\n`;
}

/** Returns when the address was erased, or undefined. */
async function findErasure(client: pg.Client, address: string, key: string): Promise<string | undefined> {
  const normalised = normaliseAddress(address);
  if (!normalised || !(await hasErasures(client))) return undefined;
  const { rows } = await client.query<{ erased_at: string }>(
    "SELECT to_json(erased_at) AS erased_at FROM earlyaccess_erasures.addresses WHERE hash = $1",
    [hashAddress(normalised, key)],
  );
  return rows[0]?.erased_at;
}
