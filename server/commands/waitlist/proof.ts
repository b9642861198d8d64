// waitlist proof: which privacy notice a person saw (GDPR, articles 7 and 13).
import type pg from "pg";
import { fields } from "../../../client/early-access/fields.ts";
import { OperatorError, printable, printableLines } from "../../operator-messages.ts";
import { print } from "../print.ts";
import { spellings } from "./address.ts";
import type { Command } from "./command.ts";
import { withOwner } from "./owner.ts";

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
      const entries = await findEntries(client, address);
      if (entries.length === 0) throw new OperatorError("The list has no entry with this address.");
      for (const entry of entries) print(`${describeEntry(entry)}\n${describeNotice(entry)}\n`);
    }),
};

const texts = ["id", ...fields.map(({ name }) => name)] as const;
const shown = [...texts, "created_at", "confirmed_at"] as const;

type Entry = Record<(typeof shown)[number] | "imported_at" | "notice_id" | "shown_at" | "text", string | null>;

async function findEntries(client: pg.Client, address: string): Promise<Entry[]> {
  const inUtc = (column: string) => `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS.MS "UTC"')`; // The connection's time zone.
  const { rows } = await client.query<Entry>(
    `SELECT ${texts.map((column) => `listed.${column}`).join(", ")}, ${inUtc("created_at")} AS created_at,
            ${inUtc("confirmed_at")} AS confirmed_at, notice_id, ${inUtc("shown_at")} AS shown_at, text,
            CASE WHEN import_id IS NOT NULL THEN coalesce(${inUtc("started_at")}, 'an unknown time') END AS imported_at
     FROM public.earlyaccess AS listed
       LEFT JOIN public.earlyaccess_imports AS import ON import.id = import_id
       LEFT JOIN public.earlyaccess_notices AS notice ON notice.id = notice_id
     WHERE email = ANY ($1)`,
    [spellings(address)],
  );
  return rows;
}

/** Each value is one line: a field cannot imitate another one, or the notice. */
function describeEntry(entry: Entry): string {
  const origin = entry.imported_at === null ? "sign-up" : `import of ${entry.imported_at}`;
  const rows = [...shown.map((column) => [column, entry[column]] as const), ["origin", origin] as const];
  return rows.flatMap(([name, value]) => (value === null ? [] : `${name.padEnd(12)}  ${printable(value)}\n`)).join("");
}

function describeNotice({ imported_at, notice_id, shown_at, text }: Entry): string {
  if (notice_id === null) {
    return imported_at === null
      ? "The sign-up named no notice: it came from a client of the API, or from before the site stored notices."
      : "The entry came from an import, which shows no notice.";
  }
  const id = printable(notice_id.trimEnd());
  if (text === null) return `The sign-up named the notice ${id}, which the site did not store.`;
  const altered = printableLines(text) !== text;
  const caution = altered ? "\nIt has invisible characters, printed as “?”; psql shows the exact text." : "";
  return `The sign-up named the notice ${id}, which the site first showed at ${shown_at}.${caution} Its text:\n\n${text}`;
}
