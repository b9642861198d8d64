// waitlist export: streams the list from Postgres as CSV or JSON lines.
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { fields } from "../../../client/early-access/fields.ts";
import { printable, printableName } from "../../operator-messages.ts";
import { UsageError } from "../command.ts";
import { sourceColumns } from "../../models/source.ts";
import { flags, isFinal, isFlagged } from "../../models/waitlist-entry.ts";
import { print } from "../print.ts";
import type { Command } from "./command.ts";
import { inPeriod, periodOptions, readPeriod } from "./moment.ts";
import { withOwner } from "./owner.ts";
import { writePrivately } from "./private-file.ts";
import { countEntries, showProgress } from "./progress.ts";
import { guard } from "./spreadsheet-cell.ts";

const fieldColumns = fields.map(({ name }) => name);
const columns = [
  ...fieldColumns,
  "status",
  "created_at",
  "confirmed_at",
  "mail_refusal",
  ...flags,
  ...sourceColumns,
  "id",
];
/** The columns whose text comes from a visitor or a mail server. */
const textColumns = new Set<string>([...fieldColumns, ...sourceColumns, "mail_refusal"]);
const timeColumns = new Set(["created_at", "confirmed_at"]);

function toCsvCell(column: string): string {
  if (textColumns.has(column)) return `${guard(column)} AS ${column}`;
  // The time zone of the connection is UTC.
  return timeColumns.has(column) ? `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${column}` : column;
}

/** The COPY statement of each format, for the entries that meet an SQL condition. */
const formats: Record<string, (condition: string) => string> = {
  csv: (condition) =>
    `COPY (SELECT ${columns.map(toCsvCell).join(", ")} FROM public.earlyaccess WHERE ${condition})
     TO STDOUT (FORMAT csv, HEADER)`,
  // COPY changes no byte of JSON text here, because JSON text has no control characters.
  ndjson: (condition) =>
    `COPY (SELECT row_to_json(entry) FROM
             (SELECT ${columns.join(", ")} FROM public.earlyaccess WHERE ${condition}) AS entry)
     TO STDOUT (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')`,
};

export const exportCommand: Command = {
  summary: "writes the list as CSV or as JSON lines, in no particular order",
  details: [
    "Without FILE, or with -, the list goes to stdout. In the project, use npm run --silent: npm prints lines of its own.",
    "FILE appears when it is complete, and only you can read it.",
    "CSV has commas, quotes as in RFC 4180, LF line ends and UTF-8. An empty text has quotes; a missing value has none.",
    "So that no spreadsheet runs a cell as a formula, an apostrophe precedes = + - @ and their full-width forms at the",
    "start of a cell and after ; TAB or a line break in it, and a leading TAB or CR. import removes these apostrophes.",
    "JSON lines hold the text without them. import ignores confirmed_at and mail_refusal.",
  ].join("\n"),
  positionals: ["[FILE]"],
  options: {
    format: { value: "FORMAT", description: "csv (the default) or ndjson" },
    ...periodOptions,
    confirmed: { description: "only entries whose address was confirmed by the link in the confirmation mail" },
    "without-flagged": { description: "omit suspected spam, disposable addresses and unusual volume" },
  },
  run: async ({ positionals: [file = "-"], value, has }) => {
    const name = value("format") ?? "csv";
    const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
    if (!format) throw new UsageError(`--format is "${printableName(name)}" but must be csv or ndjson.`);
    const conditions = [inPeriod(readPeriod(value)), isFinal];
    if (has("without-flagged")) conditions.push(`NOT ${isFlagged}`);
    if (has("confirmed")) conditions.push("confirmed_at IS NOT NULL");
    // Not sorted: after an import, sorting takes as long as the rest.
    const copy = format(conditions.join(" AND "));
    await withOwner(async (client) => {
      if (file === "-") {
        await write(client, copy, process.stdout);
        return;
      }
      const rows = await writePrivately(file, (draft) => write(client, copy, createWriteStream(draft)));
      print(`Wrote ${countEntries(rows)} to ${printable(file)}.\n`);
    });
  },
};

/** Returns the number of entries. */
async function write(client: pg.Client, copy: string, output: Writable): Promise<number> {
  // Lets parallel workers of Postgres format the entries, which nearly doubles the rate of a long list.
  await client.query("SET parallel_tuple_cost = 0");
  const progress = showProgress("Export, bytes:");
  const rows = client.query(copyTo(copy));
  rows.on("data", (chunk: Buffer) => progress.advance(chunk.length));
  try {
    await pipeline(rows, output, { end: output !== process.stdout });
    return rows.rowCount;
  } finally {
    progress.end();
  }
}
