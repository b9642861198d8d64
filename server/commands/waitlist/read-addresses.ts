// The addresses that erase, invite and joined get: as arguments, one a line of a file, or in a column of a CSV file.
import { Option, type Command } from "commander";
import { OperatorError } from "../../errors.ts";
import { unguard } from "../../models/operators/csv-guard.ts";
import { spellingsOf } from "../../models/operators/erasures.ts";
import { normaliseEmail } from "../../models/waitlist-entry.ts";
import { printable } from "../../text.ts";
import { readHeader, requireOnce } from "./import-columns.ts";
import { readRecords } from "./read-csv.ts";

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
  for await (const { line, cells } of readRecords(path)) {
    if (column === undefined) {
      const emails = readHeader(cells).map((found) => (found === "email" ? found : undefined));
      requireOnce(emails);
      column = emails.indexOf("email");
      if (column >= 0) continue;
    }
    if (column < 0 && cells.slice(1).some((cell) => cell.trim() !== ""))
      throw new OperatorError(
        `${printable(path)} has several columns at line ${line}, and no column email in the first line. Nothing was changed.`,
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
