// Reads the records of a CSV file, as spreadsheets and other programs write it, and names the line of a fault.
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { pipeline, type Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { OperatorError, printable } from "../../errors.ts";
import { fileError } from "./files.ts";

export interface CsvRecord {
  /** Counted from 1. A record of several lines has the number of its last one. */
  line: number;
  cells: string[];
}

/** In bytes, without delimiters. The parser holds a whole line in memory. */
const longestLine = 65_536;

export const sourceName = (file: string) => (file === "-" ? "stdin" : printable(file));

/** Yields every record that is not blank; spreadsheets write lines of delimiters only. @param file a path, or "-" for stdin. */
export async function* readRecords(file: string): AsyncGenerator<CsvRecord> {
  const path = sourceName(file);
  const source = file === "-" ? process.stdin : createReadStream(file);
  const start = await readStart(source, path);
  if (!start) return;
  const encoding = findEncoding(start);
  const parser = parse({
    delimiter: findDelimiter(new TextDecoder(encoding).decode(start)),
    info: true,
    // Joined files may mix them.
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_records_with_empty_values: true,
    max_record_size: longestLine,
  });
  // pipeline destroys the streams after an error of one; the loop below throws it.
  pipeline(decode(start, source, encoding), parser, () => undefined);
  let isFirst = true;
  let excess = 0; // The parser counts each CR LF in a cell as two lines.
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      excess += record.join().split("\r\n").length - 1;
      const line = info.lines - excess;
      if (isFirst && record.some((cell) => cell.includes("\0"))) throw notCsvError(file);
      isFirst = false;
      if (record.some((cell) => /[\0\uFFFD]/.test(cell))) throw encodingError(path, line);
      yield { line, cells: record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw isFirst ? notCsvError(file) : syntaxError(error, path, excess);
  }
}

/** Takes the first line, or more, from the stream; returns null if it is empty. A pipe may bring the line in pieces. */
async function readStart(source: Readable, path: string): Promise<Buffer | null> {
  let start = Buffer.alloc(0);
  while (start.length < longestLine && !/[\r\n]/.test(start.toString("latin1"))) {
    await once(source, "readable").catch((error: NodeJS.ErrnoException) => {
      throw fileError(path, "read", error);
    });
    const piece = source.read() as Buffer | null;
    if (!piece) break; // The end.
    start = Buffer.concat([start, piece]);
  }
  return start.length > 0 ? start : null;
}

/** By the byte order mark: spreadsheets write "Unicode text" as UTF-16, and so does export --excel. */
function findEncoding(start: Buffer): "utf-8" | "utf-16le" | "utf-16be" {
  const mark = start.subarray(0, 2).toString("hex");
  if (mark === "fffe") return "utf-16le";
  return mark === "feff" ? "utf-16be" : "utf-8";
}

/** Removes the byte order mark. The parser could do both, but looks for tabs and line breaks at odd bytes of UTF-16, too. */
async function* decode(start: Buffer, rest: Readable, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  yield decoder.decode(start, { stream: true });
  for await (const chunk of rest as AsyncIterable<Buffer>) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** Returns the most frequent delimiter in the first line, outside of quotes. */
function findDelimiter(start: string): string {
  const header = start.replaceAll(/"[^"]*"/g, "").split(/[\r\n]/, 1)[0] ?? "";
  const frequency = (delimiter: string) => header.split(delimiter).length;
  return [",", ";", "\t"].toSorted((a, b) => frequency(b) - frequency(a))[0] as string;
}

export const notCsvError = (file: string) =>
  new OperatorError(`${sourceName(file)} is not CSV. Save it as 'CSV UTF-8'.`);

function encodingError(path: string, line: number): OperatorError {
  const remedy = 'Save it in UTF-8, for example as "CSV UTF-8". Nothing was changed.';
  return new OperatorError(`${path} is not UTF-8 at line ${line}. ${remedy}`);
}

/** Takes only the line number from the parser's message, which quotes the line. */
function syntaxError({ message, code }: CsvError, path: string, excess: number): OperatorError {
  const line = Number(/at line (\d+)/.exec(message)?.[1]) - excess;
  const hint = "Look for an unexpected quote, or an earlier one that is never closed.";
  return new OperatorError(`${path} is not valid CSV at line ${line}: ${code}. ${hint}`);
}
