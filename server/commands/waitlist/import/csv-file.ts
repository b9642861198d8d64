// Reads a CSV file of any tool line by line: detects the delimiter and matches the column names.
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { OperatorError, printable } from "../../../operator-messages.ts";
import { matchColumns, type Columns } from "./csv-columns.ts";
import { unguard } from "../spreadsheet-cell.ts";

export interface CsvFile {
  path: string;
  delimiter: string;
  columns: Columns;
  /** In bytes. */
  size: number;
}

export interface CsvLine {
  /** The number of its first line in the file, from 1. */
  number: number;
  /** The cells of known columns; undefined if the line has more cells than the header. */
  cells: Record<string, string> | undefined;
  /** The offset of its end in the file, in bytes. */
  bytes: number;
}

/** In bytes. After a quote that is never closed, the rest of the file would be one cell. */
const longestRecord = 1_000_000;
/** In bytes; longer than any header. */
const headLength = 65_536;

/** @throws OperatorError if the file cannot be read or a required column is missing. */
export async function openCsv(path: string): Promise<CsvFile> {
  const { head, size } = await readHead(path);
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) {
    throw new OperatorError(`${printable(path)} is UTF-16. Save it as CSV in UTF-8.`);
  }
  const delimiter = findDelimiter(head.toString("utf8"));
  const draft = { path, delimiter, size };
  for await (const { record } of readRecords(draft)) return { ...draft, columns: matchColumns(record) };
  throw new OperatorError(`${printable(path)} is empty.`);
}

async function readHead(path: string): Promise<{ head: Buffer; size: number }> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(`${printable(path)} cannot be read: ${error.code}`);
  });
  try {
    const stats = await file.stat();
    // A pipe could not be read twice.
    if (!stats.isFile()) throw new OperatorError(`${printable(path)} is not a file.`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headLength), 0, headLength, 0);
    return { head: buffer.subarray(0, bytesRead), size: stats.size };
  } finally {
    await file.close();
  }
}

/** Returns the most frequent delimiter in the first line, outside of quotes. */
function findDelimiter(head: string): string {
  const header = head.replaceAll(/"[^"]*"/g, "").split(/[\r\n]/, 1)[0] ?? "";
  const frequency = (delimiter: string) => header.split(delimiter).length;
  return [",", ";", "\t"].toSorted((a, b) => frequency(b) - frequency(a))[0] as string;
}

/** Yields every line below the header that is not empty. */
export async function* readLines(file: CsvFile): AsyncGenerator<CsvLine> {
  const { places, width } = file.columns;
  let isHeader = true;
  for await (const { record, number, bytes } of readRecords(file)) {
    if (isHeader) isHeader = false;
    else if (record.slice(width).some((cell) => cell.trim() !== "")) yield { number, bytes, cells: undefined };
    else {
      const cells = places.map(([name, place]) => [name, unguard(record[place] ?? "")] as const);
      yield { number, bytes, cells: Object.fromEntries(cells) };
    }
  }
}

interface Parsed {
  record: string[];
  info: { lines: number; bytes: number };
}

async function* readRecords({ path, delimiter }: Omit<CsvFile, "columns">) {
  const parser = parse({
    delimiter,
    bom: true,
    info: true,
    relax_column_count: true,
    max_record_size: longestRecord,
  });
  // pipeline destroys both streams after an error of either; the loop below throws it.
  pipeline(createReadStream(path), parser, () => undefined);
  let previous = 0;
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>) {
      // Spreadsheets write lines of delimiters only. If the parser skipped them, it would not count them.
      if (record.some((cell) => cell.trim() !== "")) yield { record, number: previous + 1, bytes: info.bytes };
      previous = info.lines;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Only the line number: the message quotes the line.
    const line = /at line (\d+)/.exec(error.message)?.[1] ?? "?";
    throw new OperatorError(`${printable(path)} is not valid CSV at line ${line}: ${reason(error.code)}.`);
  }
}

function reason(code: string): string {
  if (code === "CSV_MAX_RECORD_SIZE" || code === "CSV_QUOTE_NOT_CLOSED") return "an earlier quote is never closed";
  return code.includes("QUOTE") ? "unexpected quote" : code;
}
