// Reads a CSV file: finds its delimiter and columns, and yields its lines.
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { OperatorError, printable } from "../../errors.ts";
import { fieldColumns, sourceColumns } from "../../database/columns.ts";
import { unguard } from "../../models/list/export.ts";
import { fileError } from "./files.ts";

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
const importedColumns = [...fieldColumns, ...otherColumns, ...sourceColumns];

/** In lower case without spaces and punctuation, "E-Mail" is email. */
const simplify = (name: string) => name.toLowerCase().replaceAll(/[\s_.:*-]/g, "");

const columnByName = new Map(importedColumns.map((column) => [simplify(column), column]));

export async function openCsv(path: string): Promise<CsvFile> {
  const records = readRecords(path);
  const first = await records.next();
  if (first.done) throw new OperatorError(`${printable(path)} is empty.`);
  const header = first.value.cells;
  const columns = header.map((name) => columnByName.get(simplify(name)));
  checkColumns(columns);
  const ignored = header.filter((name, i) => name.trim() !== "" && !columns[i]).map((name) => name.trim());
  return { ignored, lines: readLines(records, columns) };
}

function checkColumns(columns: (string | undefined)[]) {
  const isNamed = columns.includes("first_name") || columns.includes("last_name");
  // The message does not quote the first line: without a header it would be personal data.
  const missing = ["email", "name", "company"].find(
    (column) => !columns.includes(column) && !(column === "name" && isNamed),
  );
  if (missing) throw new OperatorError(`No column is called ${missing}. Rename it in the first line.`);
  const twice = columns.find((column, i) => column && columns.indexOf(column) !== i);
  if (twice) throw new OperatorError(`Two columns are for ${twice}. Remove one.`);
}

async function* readLines(records: Records, columns: (string | undefined)[]): AsyncGenerator<CsvLine> {
  for await (const { number, cells } of records) {
    const hasMore = cells.slice(columns.length).some((cell) => cell.trim() !== "");
    const known = columns.flatMap((column, i) => (column ? [[column, unguard(cells[i] ?? "")] as const] : []));
    yield { number, cells: hasMore ? undefined : Object.fromEntries(known) };
  }
}

type Records = AsyncGenerator<{ number: number; cells: string[] }>;

/** Yields every record that is not blank; spreadsheets write lines of delimiters only. */
async function* readRecords(path: string): Records {
  const source = createReadStream(path);
  await once(source, "readable").catch((error: NodeJS.ErrnoException) => {
    throw fileError(path, "read", error);
  });
  const head = source.read() as Buffer | null;
  if (!head) return;
  source.unshift(head);
  const parser = parse({
    delimiter: findDelimiter(head.toString()),
    bom: true,
    info: true,
    relax_column_count: true,
    skip_records_with_empty_values: true,
    max_record_size: longestLine,
  });
  // pipeline destroys both streams after an error of either; the loop below throws it.
  pipeline(source, parser, () => undefined);
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      yield { number: info.lines, cells: record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Only the line number: the message quotes the line.
    const line = /at line (\d+)/.exec(error.message)?.[1] ?? "?";
    const hint = "Look for an unexpected quote, or an earlier one that is never closed.";
    throw new OperatorError(`${printable(path)} is not valid CSV at line ${line}: ${error.code}. ${hint}`);
  }
}

/** Returns the most frequent delimiter in the first line, outside of quotes. */
function findDelimiter(head: string): string {
  const header = head.replaceAll(/"[^"]*"/g, "").split(/[\r\n]/, 1)[0] ?? "";
  const frequency = (delimiter: string) => header.split(delimiter).length;
  return [",", ";", "\t"].toSorted((a, b) => frequency(b) - frequency(a))[0] as string;
}
