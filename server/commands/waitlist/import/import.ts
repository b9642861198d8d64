// waitlist import: adds the entries of a CSV file, all of them or none.
import type pg from "pg";
import { v7 as uuidv7 } from "uuid";
import { connectTo } from "../../../database/connect.ts";
import { requireErasureKey } from "../../../database/erasures.ts";
import { OperatorError } from "../../../operator-messages.ts";
import { print } from "../../print.ts";
import type { Command } from "../command.ts";
import { openCsv } from "./csv-file.ts";
import { findUnfinished, finishImport, insertEntries, lockImports, removeUnfinished, startImport } from "./batches.ts";
import { readEntries } from "./lines.ts";
import { removeErasedEntries } from "./erased.ts";
import { describe, describeBad, type Seen } from "./report.ts";
import { withOwner } from "../owner.ts";
import { count } from "../progress.ts";

export const importCommand: Command = {
  summary: "adds the entries of a CSV file to the list: all of them, or none if a line is invalid",
  details: [
    "The first line names the columns, in any order and case: name (or first name and last name), email, company",
    "or organisation; also job title, created at, status, utm_… and referrer, as export writes them. The delimiter",
    "is a comma, a semicolon or a tab, the text UTF-8. Each line must pass the checks of a sign-up; import names the",
    "numbers of those that do not. It counts and skips addresses that are on the list or earlier in the file.",
    "It ignores a status that is not waiting, invited, joined or left, and a date that is not ISO 8601 or not past. With",
    "ERASURE_KEY, it counts and skips erased addresses, unless the line's created at is later than the erasure. It ignores",
    "other columns and names them; confirmed_at is one, because only the link in the confirmation mail confirms an address.",
    "The site may run meanwhile: entries are committed in short batches. If the import fails, it removes them again,",
    "except those whose address signed up meanwhile. If it was killed, the next import does it.",
  ].join("\n"),
  positionals: ["FILE"],
  options: { "dry-run": { description: "report what an import would do, and change nothing" } },
  run: async ({ positionals: [path = ""], has }) => {
    const dryRun = has("dry-run");
    const file = await openCsv(path);
    await withOwner(async (client, { ownerUrl, erasureKey }) => {
      await requireErasureKey(client, erasureKey);
      await lockImports(client);
      print(dryRun ? await describeUnfinished(client) : await removeLeftovers(client));
      const id = uuidv7(); // Lower than the ids of the entries, see removeEntries.
      const seen = await readEntries(client, file, erasureKey);
      print(describe(seen, file.columns.ignored));
      if (seen.bad > 0) throw new OperatorError(describeBad(seen));
      if (dryRun) {
        print(`Would import ${count(seen.entries - seen.known)}; nothing was changed.\n`);
        return;
      }
      const inserted = await importEntries(client, ownerUrl, id, seen);
      print(`Imported ${count(inserted)}.\n`);
    });
  },
};

async function describeUnfinished(client: pg.Client): Promise<string> {
  const left = await findUnfinished(client);
  return left ? `An earlier import did not finish. The next import removes its ${count(left.entries)} entries.\n` : "";
}

async function removeLeftovers(client: pg.Client): Promise<string> {
  const removed = await removeUnfinished(client);
  return removed === undefined ? "" : `Removed ${count(removed)} entries of an earlier import that did not finish.\n`;
}

/**
 * Inserts the entries; removes them again if anything fails.
 * @returns the number of entries whose address was not on the list.
 */
async function importEntries(client: pg.Client, ownerUrl: string, id: string, seen: Seen): Promise<number> {
  let inserted: number | undefined;
  try {
    await startImport(client, id);
    inserted = await insertEntries(client, id, seen.entries);
    if (seen.erased !== undefined) inserted -= await removeErasedEntries(client, id);
    await finishImport(client, id);
    return inserted;
  } catch (error) {
    const removed = await undo(client, ownerUrl).catch((cause: unknown) => {
      throw inserted === undefined ? notRemoved(error, cause) : unknownOutcome(cause);
    });
    // The last commit succeeded; only its answer was lost.
    if (inserted !== undefined && removed === undefined) return inserted;
    throw new OperatorError(`${describeFailure(error)} Nothing was imported.`, { cause: error });
  }
}

/** Removes the entries of the import, over a new connection if this one is lost. */
async function undo(client: pg.Client, ownerUrl: string): Promise<number | undefined> {
  const isConnected = await client.query("SELECT").then(
    () => true,
    () => false,
  );
  if (isConnected) return removeUnfinished(client);
  const other = await connectTo(ownerUrl);
  try {
    await lockImports(other); // Waits until Postgres notices that the first connection is lost.
    return await removeUnfinished(other);
  } finally {
    await other.end();
  }
}

function notRemoved(error: unknown, cause: unknown): OperatorError {
  return new OperatorError(
    `${describeFailure(error)} The entries imported so far could not be removed (${reason(cause)}). The next import, of any file, removes them first.`,
    { cause },
  );
}

function unknownOutcome(cause: unknown): OperatorError {
  return new OperatorError(
    `The import was interrupted at the very end (${reason(cause)}): it finished, or its entries are still to be removed. ` +
      "Import the file again: this removes them first, and skips addresses that are on the list.",
    { cause },
  );
}

function describeFailure(error: unknown): string {
  const { code } = error as { code?: string };
  return code ? `Postgres refused the entries (${code}); see its log.` : "The connection to Postgres ended.";
}

/** Returns only the code of a database error: its message may quote an entry. */
function reason(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  return (error as { code?: string }).code ?? "the connection is gone";
}
