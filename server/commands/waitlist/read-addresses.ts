// The addresses that bounced, erase, invite and joined get: as arguments, one a line of a file, or in a column of a CSV file.
import { Option, type Command } from "commander";
import { OperatorError, printable } from "../../errors.ts";
import { unguard } from "../../models/operators/csv-guard.ts";
import { normaliseEmail } from "../../models/sign-up-rules.ts";
import { readHeader, requireOnce } from "./import-columns.ts";
import { readRecords, sourceName, type CsvRecord } from "./read-csv.ts";

export const fileOption = (verb: string) =>
  new Option(
    "--file <FILE>",
    `${verb} the addresses in FILE (- for stdin): one a line, or the column email of a CSV file`,
  );

/**
 * Returns the given addresses and those of a file, each once, as a sign-up stores them.
 * @throws OperatorError if one is no address, or the file has none.
 */
export async function readAddresses(given: string[], path: string | undefined, command: Command): Promise<string[]> {
  if (path === undefined && given.length === 0) command.error("error: name an ADDRESS or --file FILE");
  const inFile = path === undefined ? [] : await readAddressFile(path);
  if (path !== undefined && inFile.length === 0) {
    throw new OperatorError(`${sourceName(path)} has no address. Nothing was changed.`);
  }
  return [...new Set([...given, ...inFile].map(normalise))];
}

function normalise(email: string): string {
  const normalised = normaliseEmail(email);
  if (normalised) return normalised;
  throw new OperatorError(`"${printable(email)}" is not an email address. Nothing was changed.`);
}

/** @throws OperatorError if the list has nobody of those who were named. */
export function requireListed(people: number): void {
  if (people === 0) throw new OperatorError("None of these addresses is on the list.");
}

async function readAddressFile(path: string): Promise<string[]> {
  const records = readRecords(path);
  const first = await records.next();
  if (first.done) return [];
  const column = findEmailColumn(path, first.value.cells);
  const addresses = column === undefined ? [readOnlyCell(path, first.value)] : [];
  for await (const record of records) {
    addresses.push(column === undefined ? readOnlyCell(path, record) : (record.cells[column] ?? ""));
  }
  return addresses.map(unguard).filter((address) => address.trim() !== "");
}

/** Returns undefined if the first line is no header. @throws OperatorError if it is one without a column email. */
function findEmailColumn(path: string, firstLine: string[]): number | undefined {
  const emails = readHeader(firstLine).map((column) => (column === "email" ? column : undefined));
  requireOnce(emails);
  if (emails.includes("email")) return emails.indexOf("email");
  const names = firstLine.filter((name) => name.trim() !== "");
  // A line with an address is no header, and the message does not quote it.
  if (names.length < 2 || firstLine.some((name) => name.includes("@"))) return undefined;
  const columns = names.map((name) => printable(name.trim())).join(", ");
  const remedy = "Rename the column of the addresses to email. Nothing was changed.";
  throw new OperatorError(`The first line of ${sourceName(path)} names no column email, but ${columns}. ${remedy}`);
}

function readOnlyCell(path: string, { line, cells: [cell = "", ...others] }: CsvRecord): string {
  if (others.every((other) => other.trim() === "")) return cell;
  throw new OperatorError(
    `${sourceName(path)} has several columns at line ${line}, and no column email in the first line. Nothing was changed.`,
  );
}
