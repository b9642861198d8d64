// The lines of an import: which of its columns are the list's, whatever another tool calls them, and who unsubscribed there.
import { fieldColumns, sourceColumns } from "../../database/columns.ts";
import { OperatorError } from "../../errors.ts";
import { unguard } from "../../models/operators/csv-guard.ts";
import { printable } from "../../text.ts";
import { listNames } from "./files.ts";
import { readRecords, type CsvRecord } from "./read-csv.ts";

export interface ImportFile {
  ignored: string[];
  lines: AsyncIterable<ImportLine>;
}

export interface ImportLine {
  /** Counted from 1. A record of several lines has the number of its last one. */
  number: number;
  /** The cells of known columns; undefined if the line has more cells than the header. */
  cells: Record<string, string> | undefined;
  /** The person unsubscribed from another tool's mails, complained about them, or has an address that bounced. */
  isUnsubscribed: boolean;
}

/** The columns of a list that an import reads. Only the link in a mail confirms an address. */
const otherColumns = ["first_name", "last_name", "status", "created_at", "suspected_spam"];
const ownColumns = ["confirmed_at", "imported"];
const importedColumns = [...fieldColumns, ...otherColumns, ...sourceColumns, ...ownColumns];

/** Names that forms, spreadsheets and mailing tools give to these columns. The "position" of a waitlist is a place in a queue. */
const otherNames: Record<string, string[]> = {
  email: ["email address", "your email", "mail", "subscriber"],
  name: ["full name", "your name", "display name"],
  first_name: ["fname", "given name"],
  last_name: ["lname", "surname", "family name"],
  company: ["company name", "organization", "organisation", "organization name"],
  job_title: ["job", "role"],
  created_at: ["optin time", "subscribed at", "signed up at", "submitted at", "submit date utc"],
};

/** In lower case without spaces and punctuation, "E-Mail" is email. */
const simplify = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\d]/gu, "");

const columnByName = new Map(
  importedColumns.flatMap((column) => [column, ...(otherNames[column] ?? [])].map((name) => [simplify(name), column])),
);

const no = new Set(["false", "f", "no", "n", "0"]);
const nothing = new Set([...no, "", "null"]);
const gone = new Set([
  "unsubscribed",
  "cancelled",
  "canceled",
  "bounced",
  "complained",
  "blocklisted",
  "blacklisted",
  "cleaned",
]);
/** Beehiiv, Keila and MailerLite call them so. Kit's state "inactive" only waits for a confirmation. */
const goneByStatus = new Set([...gone, "inactive", "unreachable", "junk"]);

/** The columns in which mailing tools say who unsubscribed or bounced, and whether a cell says so. */
const goneColumns: [names: string[], saysGone: (cell: string) => boolean][] = [
  [["state", "email subscriber status", "list status", "global status"], (cell) => gone.has(cell)],
  [["subscription status", "subscriber status"], (cell) => goneByStatus.has(cell)],
  [["subscribed", "subscribed to emails", "accepts email marketing"], (cell) => no.has(cell)],
  [["unsubscribed", "unsubscribed from all email", "unsubscribed at", "unsub time"], (cell) => !nothing.has(cell)],
  [["email opt out", "has opted out of email", "opted out", "do not email"], (cell) => !nothing.has(cell)],
  [["email disabled", "email hard bounce reason", "clean time"], (cell) => !nothing.has(cell)],
];

const saysGoneByName = new Map(
  goneColumns.flatMap(([names, saysGone]) => names.map((name) => [simplify(name), saysGone] as const)),
);

/** Returns the list's name of each column, undefined for an unknown one. */
export const readHeader = (names: string[]) => names.map((name) => columnByName.get(simplify(name)));

export function requireOnce(columns: (string | undefined)[]) {
  const twice = columns.find((column, i) => column && columns.indexOf(column) !== i);
  if (twice) throw new OperatorError(`Two columns are for ${twice}. Remove one, or rename it in the first line.`);
}

/** @param isOwn whether the file is an export of this list, whose other columns are right, too. */
export async function openImport(path: string, isOwn = false): Promise<ImportFile> {
  const records = readRecords(path);
  const first = await records.next();
  if (first.done) throw new OperatorError(`${path === "-" ? "stdin" : printable(path)} is empty.`);
  const header = first.value.cells;
  const columns = readHeader(header).map((column) =>
    isOwn || !ownColumns.includes(column ?? "") ? column : undefined,
  );
  requireColumns(columns);
  requireOnce(columns);
  const isIgnored = (name: string, i: number) =>
    name.trim() !== "" && !columns[i] && !saysGoneByName.has(simplify(name));
  const defaults = isOwn && isOldExport(columns) ? { imported: "false" } : {};
  const lines = readLines(records, header, columns, defaults);
  return { ignored: header.filter(isIgnored).map((name) => name.trim()), lines };
}

/** Before 1.0.0, an export did not say which entries were imported: those of a missing column are sign-ups of this list. */
const isOldExport = (columns: (string | undefined)[]) =>
  columns.includes("suspected_spam") && columns.includes("status") && !columns.includes("imported");

function requireColumns(columns: (string | undefined)[]): void {
  const isNamed = columns.includes("first_name") || columns.includes("last_name");
  const missing = ["email", "name", "company"].filter(
    (column) => !columns.includes(column) && !(column === "name" && isNamed),
  );
  if (missing.length === 0) return;
  // The message does not quote the first line: without a header it would be personal data.
  const remedy = 'Rename a column, or add one: a name or company may be "unknown"';
  throw new OperatorError(`The first line names no column ${listNames(missing)}. ${remedy}.`);
}

async function* readLines(
  records: AsyncIterable<CsvRecord>,
  header: string[],
  columns: (string | undefined)[],
  defaults: Record<string, string>,
): AsyncGenerator<ImportLine> {
  const rules = header.map((name) => saysGoneByName.get(simplify(name)));
  for await (const { line, cells } of records) {
    const hasMore = cells.slice(columns.length).some((cell) => cell.trim() !== "");
    const known = columns.flatMap((column, i) => (column ? [[column, unguard(cells[i] ?? "")] as const] : []));
    yield {
      number: line,
      cells: hasMore ? undefined : { ...defaults, ...Object.fromEntries(known) },
      isUnsubscribed: !hasMore && rules.some((saysGone, i) => saysGone?.(simplify(cells[i] ?? ""))),
    };
  }
}
