// waitlist export: streams the list from Postgres as CSV or JSON lines.
import { fields } from "../../../client/shared/fields.ts";
import { WaitlistStatus } from "../../database/generated/enums.ts";
import { printable } from "../../operator-messages.ts";
import { sourceColumns } from "../../models/source.ts";
import { flags, isFinal, isFlagged } from "../../models/waitlist-entry.ts";
import { print } from "../print.ts";
import { readChoice, readCount, type Arguments, type Command } from "./command.ts";
import { copyToFile } from "./copy.ts";
import { periodOptions, readPeriod } from "./moment.ts";
import { withOwner } from "./owner.ts";
import { writePrivately } from "./private-file.ts";
import { countEntries } from "./progress.ts";
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

/** The COPY statement of each format. `rows` is the SQL after SELECT …: FROM and what follows it. */
const formats: Record<string, (rows: string) => string> = {
  csv: (rows) => `COPY (SELECT ${columns.map(toCsvCell).join(", ")} ${rows}) TO STDOUT (FORMAT csv, HEADER)`,
  // COPY changes no byte of JSON text here, because JSON text has no control characters.
  ndjson: (rows) =>
    `COPY (SELECT row_to_json(entry) FROM (SELECT ${columns.join(", ")} ${rows}) AS entry)
     TO STDOUT (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')`,
};

/** Qualified: in CSV, the bare name would be the formatted text. */
const orders: Record<string, string> = {
  oldest: "ORDER BY earlyaccess.created_at, earlyaccess.id",
  newest: "ORDER BY earlyaccess.created_at DESC, earlyaccess.id DESC",
};

export const exportCommand: Command = {
  summary: "writes the list as CSV or as JSON lines",
  details: [
    "Without FILE, or with -, the list goes to stdout. In the project, use npm run --silent: npm prints lines of its own.",
    "FILE appears when it is complete, and only you can read it. Without --sort, the list has no particular order.",
    "CSV has commas, quotes as in RFC 4180, LF line ends and UTF-8. An empty text has quotes; a missing value has none.",
    "So that no spreadsheet runs a cell as a formula, an apostrophe precedes = + - @ and their full-width forms at the",
    "start of a cell and after ; TAB or a line break in it, and a leading TAB or CR. import removes these apostrophes.",
    "JSON lines hold the text without them. import ignores confirmed_at and mail_refusal.",
  ].join("\n"),
  positionals: ["[FILE]"],
  options: {
    format: { value: "FORMAT", description: "csv (the default) or ndjson" },
    ...periodOptions,
    status: {
      value: "STATUS",
      description: `only entries with this status: ${Object.keys(WaitlistStatus).join(", ")}; several with commas`,
    },
    confirmed: { description: "only entries whose address was confirmed by the link in the confirmation mail" },
    "without-flagged": { description: "omit suspected spam, disposable addresses and unusual volume" },
    sort: { value: "ORDER", description: "oldest (the oldest first) or newest" },
    limit: { value: "N", description: "at most N entries; without --sort, any" },
  },
  run: async (args) => {
    const [file = "-"] = args.positionals;
    const copy = toCopy(args);
    await withOwner(async (client) => {
      if (file === "-") {
        await copyToFile(client, copy, file);
        return;
      }
      const rows = await writePrivately(file, (draft) => copyToFile(client, copy, draft));
      print(`Wrote ${countEntries(rows)} to ${printable(file)}.\n`);
    });
  },
};

/** @throws UsageError */
function toCopy({ value, has }: Arguments): string {
  const format = readChoice("format", value("format") ?? "csv", formats);
  const conditions = [readPeriod(value), isFinal];
  if (has("without-flagged")) conditions.push(`NOT ${isFlagged}`);
  if (has("confirmed")) conditions.push("confirmed_at IS NOT NULL");
  const status = value("status");
  if (status !== undefined) conditions.push(`status IN (${readStatuses(status).join(", ")})`);
  // By default unsorted: after an import, sorting takes as long as the rest.
  const sort = value("sort");
  const order = sort === undefined ? "" : readChoice("sort", sort, orders);
  const limit = readCount("limit", value("limit")) ?? "ALL";
  return format(`FROM public.earlyaccess WHERE ${conditions.join(" AND ")} ${order} LIMIT ${limit}`);
}

/** Returns SQL literals. */
function readStatuses(text: string): string[] {
  return text.split(",").map((word) => `'${readChoice("status", word.trim(), WaitlistStatus)}'`);
}
