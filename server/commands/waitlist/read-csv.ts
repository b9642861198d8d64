// Reads CSV files, as spreadsheets, forms and mailing tools write them: the lines of an import, and addresses.
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { Option, type Command } from "commander";
import { CsvError, parse } from "csv-parse";
import { spellingsOf } from "../../models/operators/erasures.ts";
import { normaliseEmail } from "../../models/waitlist-entry.ts";
import { OperatorError } from "../../errors.ts";
import { printable } from "../../text.ts";
import { fieldColumns, sourceColumns } from "../../database/columns.ts";
import { unguard } from "../../models/operators/csv-guard.ts";
import { fileError, listNames } from "./files.ts";

export interface CsvFile {
  ignored: string[];
  lines: AsyncIterable<CsvLine>;
}

export interface CsvLine {
  /** Counted from 1. A record of several lines has the number of its last one. */
  number: number;
  /** The cells of known columns; undefined if the line has more cells than the header. */
  cells: Record<string, string> | undefined;
}

/** In bytes, without delimiters. The parser holds a whole line in memory. */
const longestLine = 65_536;

/**
 * The columns of a list that an import reads. disposable_email follows from the address. Only the link in a mail confirms an
 * address.
 */
const otherColumns = ["first_name", "last_name", "status", "created_at", "suspected_spam", "unusual_volume"];
const ownColumns = ["confirmed_at", "imported"];
const importedColumns = [...fieldColumns, ...otherColumns, ...sourceColumns, ...ownColumns];

/** Names that forms, spreadsheets and mailing tools give to these columns. */
const otherNames: Record<string, string[]> = {
  email: ["email address", "your email", "mail", "subscriber"],
  name: ["full name", "your name", "display name"],
  first_name: ["fname", "given name"],
  last_name: ["lname", "surname", "family name"],
  company: ["company name", "organization", "organisation", "organization name"],
  job_title: ["job", "position", "role"],
  created_at: ["optin time", "subscribed at", "signed up at", "submitted at", "submit date utc"],
};

/** In lower case without spaces and punctuation, "E-Mail" is email. */
const simplify = (name: string) => name.toLowerCase().replaceAll(/[^\p{L}\d]/gu, "");

const columnByName = new Map(
  importedColumns.flatMap((column) => [column, ...(otherNames[column] ?? [])].map((name) => [simplify(name), column])),
);

const readHeader = (names: string[]) => names.map((name) => columnByName.get(simplify(name)));

function requireOnce(columns: (string | undefined)[]) {
  const twice = columns.find((column, i) => column && columns.indexOf(column) !== i);
  if (twice) throw new OperatorError(`Two columns are for ${twice}. Remove one, or rename it in the first line.`);
}

/** @param isOwn whether the file is an export of this list, whose other columns are right, too. */
export async function openCsv(path: string, isOwn = false): Promise<CsvFile> {
  const records = readRecords(path);
  const first = await records.next();
  if (first.done) throw new OperatorError(`${path === "-" ? "stdin" : printable(path)} is empty.`);
  const header = first.value.cells;
  const columns = readHeader(header).map((column) =>
    isOwn || !ownColumns.includes(column ?? "") ? column : undefined,
  );
  const isNamed = columns.includes("first_name") || columns.includes("last_name");
  const missing = ["email", "name", "company"].filter(
    (column) => !columns.includes(column) && !(column === "name" && isNamed),
  );
  // The message does not quote the first line: without a header it would be personal data.
  if (missing.length > 0) {
    const remedy = 'Rename a column, or add one: a name or company may be "unknown"';
    throw new OperatorError(`The first line names no column ${listNames(missing)}. ${remedy}.`);
  }
  requireOnce(columns);
  const ignored = header.filter((name, i) => name.trim() !== "" && !columns[i]).map((name) => name.trim());
  return { ignored, lines: readLines(records, columns) };
}

export const fileOption = (verb: string) =>
  new Option(
    "--file <FILE>",
    `${verb} the addresses in FILE (- for stdin): one a line, or the column email of a CSV file`,
  );

/** Returns the given addresses and those of a file. */
export async function readAddresses(given: string[], path: string | undefined, command: Command): Promise<string[]> {
  if (path === undefined && given.length === 0) command.error("error: name an ADDRESS or --file FILE");
  if (path === undefined) return given;
  const addresses = [...given];
  let column: number | undefined;
  for await (const { number, cells } of readRecords(path)) {
    if (column === undefined) {
      const emails = readHeader(cells).map((found) => (found === "email" ? found : undefined));
      requireOnce(emails);
      column = emails.indexOf("email");
      if (column >= 0) continue;
    }
    if (column < 0 && cells.slice(1).some((cell) => cell.trim() !== ""))
      throw new OperatorError(
        `${printable(path)} has several columns at line ${number}, and no column email in the first line. Nothing was changed.`,
      );
    const address = unguard(cells[Math.max(0, column)] ?? "");
    if (address.trim() !== "") addresses.push(address);
  }
  return addresses;
}

/** Like readAddresses, but returns the spellings of each address. @throws OperatorError if one is no address. */
export async function readPeople(...from: Parameters<typeof readAddresses>): Promise<ReturnType<typeof spellingsOf>[]> {
  const emails = await readAddresses(...from);
  const wrong = emails.find((email) => !normaliseEmail(email));
  if (wrong === undefined) return emails.map(spellingsOf);
  throw new OperatorError(`"${printable(wrong)}" is not an email address. Nothing was changed.`);
}

async function* readLines(records: Records, columns: (string | undefined)[]): AsyncGenerator<CsvLine> {
  for await (const { number, cells } of records) {
    const hasMore = cells.slice(columns.length).some((cell) => cell.trim() !== "");
    const known = columns.flatMap((column, i) => (column ? [[column, unguard(cells[i] ?? "")] as const] : []));
    yield { number, cells: hasMore ? undefined : Object.fromEntries(known) };
  }
}

type Records = AsyncGenerator<{ number: number; cells: string[] }>;

/** Yields every record that is not blank; spreadsheets write lines of delimiters only. @param file a path, or "-" for stdin. */
async function* readRecords(file: string): Records {
  const [path, source] = file === "-" ? ["stdin", process.stdin] : [file, createReadStream(file)];
  await once(source, "readable").catch((error: NodeJS.ErrnoException) => {
    throw fileError(path, "read", error);
  });
  const head = source.read() as Buffer | null;
  if (!head) return;
  const [, what, remedy] = otherFormats.find(([start]) => start.test(head.toString("latin1"))) ?? [];
  if (what) throw new OperatorError(`${printable(path)} is ${what}, not CSV. ${remedy}.`);
  source.unshift(head);
  const parser = parse({
    delimiter: findDelimiter(head.toString()),
    bom: true,
    info: true,
    // Joined files may mix them.
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_records_with_empty_values: true,
    max_record_size: longestLine,
  });
  // pipeline destroys both streams after an error of either; the loop below throws it.
  pipeline(source, parser, () => undefined);
  let excess = 0; // The parser counts each CR LF in a cell as two lines.
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      const text = record.join();
      excess += text.split("\r\n").length - 1;
      const number = info.lines - excess;
      if (/[\0\uFFFD]/.test(text))
        throw new OperatorError(
          `${printable(path)} is not UTF-8 at line ${number}. Save it in UTF-8, for example as "CSV UTF-8". Nothing was changed.`,
        );
      yield { number, cells: record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Only the line number: the message quotes the line.
    const line = Number(/at line (\d+)/.exec(error.message)?.[1]) - excess;
    const hint = "Look for an unexpected quote, or an earlier one that is never closed.";
    throw new OperatorError(`${printable(path)} is not valid CSV at line ${line}: ${error.code}. ${hint}`);
  }
}

/** The starts of other formats, as Latin-1. */
const otherFormats: [start: RegExp, what: string, remedy: string][] = [
  [/^PK\p{Cc}{2}/u, "a ZIP file or a spreadsheet", 'Unpack the ZIP file, or save the spreadsheet as "CSV UTF-8"'],
  [/^\xD0\xCF\p{Cc}\xE0/u, "a spreadsheet", 'Save it as "CSV UTF-8"'],
  [/^(?:\xEF\xBB\xBF)?\s*<[!?a-z]+[\s>]/i, "HTML or XML", "Export the list as CSV"],
  [/^(?:\xEF\xBB\xBF)?\s*[[{]/, "JSON", "Export the list as CSV"],
];

/** Returns the most frequent delimiter in the first line, outside of quotes. */
function findDelimiter(head: string): string {
  const header = head.replaceAll(/"[^"]*"/g, "").split(/[\r\n]/, 1)[0] ?? "";
  const frequency = (delimiter: string) => header.split(delimiter).length;
  return [",", ";", "\t"].toSorted((a, b) => frequency(b) - frequency(a))[0] as string;
}
