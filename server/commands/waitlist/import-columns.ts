// The columns of an import: those that export writes, in any case and with any spaces or hyphens. Every other column stops it.
import { fieldColumns, sourceColumns } from "../../database/columns.ts";
import { WaitlistStatus } from "../../database/generated/enums.ts";
import { OperatorError, printable } from "../../errors.ts";
import { unguard } from "../../models/operators/csv-guard.ts";
import { exportedColumns } from "../../models/operators/export.ts";
import { listNames } from "./files.ts";
import { notCsvError, readRecords, sourceName, type CsvRecord } from "./read-csv.ts";

export interface ImportFile {
  /** The columns that the import does not read: some of the list's, and those that the operator named. */
  ignored: string[];
  /** @throws OperatorError at the end if the file lacks a column, or has an unknown one or another tool's status. */
  lines: AsyncIterable<ImportLine>;
}

export interface ImportLine {
  /** Counted from 1. A record of several lines has the number of its last one. */
  number: number;
  /** The cells of the columns that an import reads; undefined if the line has a cell in a column without a name. */
  cells: Record<string, string> | undefined;
}

export interface ImportOptions {
  /** Whether the file is an export of this list, whose other columns are right, too. */
  own?: boolean;
  /** The names of columns that the import leaves out. */
  ignore?: string[];
}

interface Header {
  names: string[];
  /** The list's name of each column that the import reads. */
  columns: (string | undefined)[];
  /** The names that are not the list's. */
  unknown: string[];
}

const nameParts = ["first_name", "last_name"];
const otherColumns = ["status", "created_at", "suspected_spam"];

/** The columns that an import reads. Only the link in a mail confirms an address. */
const importedColumns = [...fieldColumns, ...nameParts, ...otherColumns, ...sourceColumns];
const ownColumns = ["confirmed_at", "mail_refusal", "imported"];

/** Flags of older exports. An import without them would take the entries that have one for people who get mails. */
const retiredFlags = ["disposable_email", "unusual_volume"];

/** In lower case without spaces and hyphens, "E-Mail" is email, and "First name" is first_name. */
const simplify = (name: string) => name.toLowerCase().replaceAll(/[\s\p{Pd}_]/gu, "");

const includesName = (names: string[], name: string) => names.some((other) => simplify(other) === simplify(name));

const columnByName = new Map([...exportedColumns, ...nameParts].map((column) => [simplify(column), column]));

/** Returns the list's name of each column, undefined for an unknown one. */
export const readHeader = (names: string[]) => names.map((name) => columnByName.get(simplify(name)));

export function requireOnce(columns: (string | undefined)[]) {
  const twice = columns.find((column, i) => column && columns.indexOf(column) !== i);
  if (twice) throw new OperatorError(`Two columns are for ${twice}. Remove one, or rename it in the first line.`);
}

export async function openImport(path: string, { own = false, ignore = [] }: ImportOptions): Promise<ImportFile> {
  const records = readRecords(path);
  const first = await records.next();
  if (first.done) throw new OperatorError(`${sourceName(path)} is empty.`);
  const names = first.value.cells.map((name) => name.trim());
  const known = readHeader(names);
  if (isOtherFormat(names, known)) throw notCsvError(path);
  const readColumns = own ? [...importedColumns, ...ownColumns] : importedColumns;
  const columns = known.map((column = "", i) =>
    readColumns.includes(column) && !includesName(ignore, names[i] ?? "") ? column : undefined,
  );
  requireOnce(columns);
  const absent = ignore.filter((name) => !includesName(names, name));
  if (absent.length > 0) {
    throw new OperatorError(`--ignore names no column of the first line: ${listNames(absent)}. Nothing was changed.`);
  }
  const unknown = names.filter((name, i) => name !== "" && !known[i] && !includesName(ignore, name));
  const lines = readLines(records, { names, columns, unknown });
  return { ignored: names.filter((name, i) => name !== "" && !columns[i]), lines };
}

/** The first line of HTML, JSON or a PDF has no delimiter. A column of addresses has none, either, and is CSV. */
const isOtherFormat = (names: string[], known: (string | undefined)[]) =>
  names.length === 1 && !known[0] && /[^\p{L}\p{M}\p{N}\s@._-]/u.test(names[0] ?? "");

async function* readLines(records: AsyncIterable<CsvRecord>, header: Header): AsyncGenerator<ImportLine> {
  const { names, columns, unknown } = header;
  const status = columns.indexOf("status");
  const isFaulty = unknown.length > 0 || findMissing(columns).length > 0;
  for await (const { line, cells } of records) {
    // One message names all columns, so it waits for the values of status.
    if (isForeignStatus(cells[status])) throw columnsError(header, { column: names[status] ?? "", line });
    if (isFaulty) continue;
    const hasUnnamed = cells.some((cell, i) => cell.trim() !== "" && !names[i]);
    const known = columns.flatMap((column, i) => (column ? [[column, unguard(cells[i] ?? "")] as const] : []));
    yield { number: line, cells: hasUnnamed ? undefined : Object.fromEntries(known) };
  }
  if (isFaulty) throw columnsError(header);
}

function isForeignStatus(cell = ""): boolean {
  const status = cell.trim().toLowerCase();
  return status !== "" && !Object.hasOwn(WaitlistStatus, status);
}

function findMissing(columns: (string | undefined)[]): string[] {
  const isNamed = columns.includes("first_name") || columns.includes("last_name");
  return ["email", "name", "company"].filter((column) => !columns.includes(column) && !(column === "name" && isNamed));
}

function columnsError({ names, columns, unknown }: Header, foreign?: { column: string; line: number }): OperatorError {
  const missing = findMissing(columns);
  const sentences: string[] = [];
  if (missing.length > 0) {
    const remedy = 'Rename a column, or add one: a name or company may be "unknown"';
    sentences.push(`The first line names no column ${listNames(missing)}. ${remedy}.`);
  }
  // Without a header, the first line is personal data.
  if (missing.includes("email") && names.some((name) => name.includes("@"))) return new OperatorError(sentences.join());
  if (foreign) {
    const statuses = listNames(Object.keys(WaitlistStatus));
    sentences.push(`Line ${foreign.line}: status: not one of ${statuses}.`);
  }
  const retired = unknown.filter((name) => includesName(retiredFlags, name));
  if (retired.length > 0) {
    const remedy = "Remove the lines in which one is true: those people would get mails. Then remove these columns";
    sentences.push(`Flags of an older export: ${listNames(retired)}. ${remedy}.`);
  }
  const others = [...unknown.filter((name) => !retired.includes(name)), ...(foreign ? [foreign.column] : [])];
  if (others.length > 0) {
    const question = "Does one say who unsubscribed or bounced? Remove those people first";
    const remedy = "then remove these columns or name each with --ignore";
    sentences.push(
      `Columns that this list does not know: ${others.map(printable).join(", ")}. ${question}; ${remedy}.`,
    );
  }
  return new OperatorError(sentences.join("\n"));
}
