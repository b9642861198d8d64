// waitlist proof: which privacy notice a person saw (GDPR, articles 7 and 13).
import { fields } from "../../../client/early-access/fields.ts";
import { OperatorError, printable, printableLines } from "../../operator-messages.ts";
import { print } from "../print.ts";
import type { Command } from "./command.ts";
import { withOwner } from "./owner.ts";
import { describeOrigin, describeRows, findPeople, formatTime, type Person, type Value } from "./person.ts";

export const proof: Command = {
  summary: "prints the entry of ADDRESS and the privacy notice that its form showed",
  details: [
    "Prints the fields, the time of the sign-up in UTC, whether the entry came from a sign-up or an import, and the notice:",
    "its id, when the site first showed it, and its text. The id is the beginning of the text's SHA-256: a changed text",
    "would have another id. Says so if the sign-up named no notice, or one that the site did not store.",
  ].join("\n"),
  positionals: ["ADDRESS"],
  options: {},
  run: ({ positionals: [address = ""] }) =>
    withOwner(async (client) => {
      const people = await findPeople(client, address);
      if (people.length === 0) throw new OperatorError("The list has no entry with this address.");
      for (const person of people) print(`${describeEntry(person)}\n${describeNotice(person)}\n`);
    }),
};

const shown = ["id", ...fields.map(({ name }) => name), "created_at", "confirmed_at"];

function describeEntry(person: Person): string {
  const rows = shown.map((column): [string, Value | undefined] => [column, person.entry[column]]);
  return describeRows([...rows.filter(([, value]) => value !== null), ["origin", describeOrigin(person)]]);
}

function describeNotice({ entry, notice }: Person): string {
  if (!entry.notice_id) {
    return entry.import_id === null
      ? "The sign-up named no notice: it came from a client of the API, or from before the site stored notices."
      : "The entry came from an import, which shows no notice.";
  }
  const id = printable(String(entry.notice_id).trimEnd());
  if (!notice) return `The sign-up named the notice ${id}, which the site did not store.`;
  const { text, shown_at } = notice;
  const altered = printableLines(text) !== text;
  const caution = altered ? "\nIt has invisible characters, printed as “?”; psql shows the exact text." : "";
  return `The sign-up named the notice ${id}, which the site first showed at ${formatTime(shown_at)}.${caution} Its text:\n\n${text}`;
}
