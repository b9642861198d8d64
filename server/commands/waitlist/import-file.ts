// Reads a CSV file of any tool: finds its delimiter and columns, and yields its lines.
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { OperatorError, printable } from "../../operator-messages.ts";
import { importedColumns } from "../../models/waitlist-entry.ts";
import { unguard } from "../../models/exported-list.ts";
import { explainCode } from "../command.ts";

export interface CsvFile {
  ignored: string[];
  lines: AsyncIterable<CsvLine>;
}

export interface CsvLine {
  /** From 1; of a record of several lines, its first one. */
  number: number;
  /** The cells of known columns; undefined if the line has more cells than the header. */
  cells: Record<string, string> | undefined;
}

/** In bytes, without delimiters. The parser holds a whole line in memory. */
const longestLine = 65_536;

/** The names that other tools give the columns; in lower case without spaces and punctuation, "E-Mail address" is emailaddress. */
const otherNames: Record<string, string[]> = {
  name: ["fullname", "yourname", "contact", "contactname", "displayname"],
  first_name: ["firstname", "givenname", "forename"],
  last_name: ["lastname", "surname", "familyname"],
  email: ["emailaddress", "mail", "mailaddress", "workemail", "youremail"],
  company: ["companyname", "organisation", "organization", "organisationname", "organizationname", "employer"],
  job_title: ["title", "role", "position", "job"],
  created_at: ["created", "date", "signedup", "signedupat", "signupdate", "submittedat", "timestamp"],
  referrer_host: ["referrer", "referer"],
};

const simplify = (name: string) =>
  name
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[\s_.:*-]/g, "");

const columnByName = new Map([
  ...importedColumns.map((column) => [simplify(column), column] as const),
  ...Object.entries(otherNames).flatMap(([column, names]) => names.map((name) => [name, column] as const)),
]);

export async function openCsv(path: string): Promise<CsvFile> {
  const records = readRecords(path);
  const first = await records.next();
  if (first.done) throw new OperatorError(`${printable(path)} is empty.`);
  const header = first.value.cells;
  const isUnknown = (name: string) => name.trim() !== "" && !columnByName.has(simplify(name));
  const ignored = header.filter(isUnknown).map((name) => name.trim());
  return { ignored, lines: readLines(records, matchColumns(header), header.length) };
}

async function* readLines(records: Records, columns: Columns, width: number): AsyncGenerator<CsvLine> {
  for await (const { number, cells } of records) {
    const hasMore = cells.slice(width).some((cell) => cell.trim() !== "");
    const known = columns.map(([column, index]) => [column, unguard(cells[index] ?? "")] as const);
    yield { number, cells: hasMore ? undefined : Object.fromEntries(known) };
  }
}

type Records = AsyncGenerator<{ number: number; cells: string[] }>;
type Columns = [column: string, index: number][];

/** @throws OperatorError if a required column is missing or a column occurs twice. */
function matchColumns(header: string[]): Columns {
  const columns = header.flatMap((name, index): Columns => {
    const column = columnByName.get(simplify(name));
    return column ? [[column, index]] : [];
  });
  const names = columns.map(([column]) => column);
  // The message does not quote the first line: without a header it would be personal data.
  for (const column of ["email", "name", "company"]) {
    if (names.includes(column) || (column === "name" && names.some((name) => name.endsWith("_name")))) continue;
    const known = [column, ...(otherNames[column] ?? [])].join(", ");
    throw new OperatorError(`The first line names no column for the ${column}. Use one of these names: ${known}`);
  }
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice) throw new OperatorError(`Two columns are for ${twice}. Remove one.`);
  return columns;
}

/** Yields every record that is not blank; spreadsheets write lines of delimiters only. */
async function* readRecords(path: string): Records {
  const chunks = createReadStream(path)[Symbol.asyncIterator]() as AsyncIterableIterator<Buffer>;
  const first = await chunks.next().catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(`${printable(path)} cannot be read: ${explainCode(error.code)}`);
  });
  const head = first.done ? Buffer.alloc(0) : first.value;
  if (/^(?:\xFF\xFE|\xFE\xFF)/.test(head.toString("latin1", 0, 2))) {
    throw new OperatorError(`${printable(path)} is UTF-16. Save it as CSV in UTF-8.`);
  }
  const delimiter = findDelimiter(head.toString());
  const parser = parse({ delimiter, bom: true, info: true, relax_column_count: true, max_record_size: longestLine });
  // pipeline destroys both streams after an error of either; the loop below throws it.
  const whole = async function* () {
    yield head;
    yield* chunks;
  };
  pipeline(whole, parser, () => undefined);
  let end = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (record.some((cell) => cell.trim() !== "")) yield { number: end + 1, cells: record };
      end = info.lines;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Only the line number: the message quotes the line.
    const line = /at line (\d+)/.exec(error.message)?.[1] ?? "?";
    throw new OperatorError(`${printable(path)} is not valid CSV at line ${line}: ${describeCode(error.code)}.`);
  }
}

/** Returns the most frequent delimiter in the first line, outside of quotes. */
function findDelimiter(head: string): string {
  const header = head.replaceAll(/"[^"]*"/g, "").split(/[\r\n]/, 1)[0] ?? "";
  const frequency = (delimiter: string) => header.split(delimiter).length;
  return [",", ";", "\t"].toSorted((a, b) => frequency(b) - frequency(a))[0] as string;
}

function describeCode(code: string): string {
  if (code === "CSV_MAX_RECORD_SIZE") return "the line is longer than 64 KiB, or an earlier quote is never closed";
  if (code === "CSV_QUOTE_NOT_CLOSED") return "an earlier quote is never closed";
  return code.includes("QUOTE") ? "unexpected quote" : code;
}
