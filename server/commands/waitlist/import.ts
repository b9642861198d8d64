// waitlist import: the list of another tool, all of it or nothing.
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { entryColumns } from "../../models/waitlist-entry.ts";
import { OperatorError } from "../../operator-error.ts";
import { print } from "../print.ts";
import type { Command } from "./command.ts";
import { readEntry, type ImportedEntry } from "./csv-entry.ts";
import { openCsv, readLines, type CsvFile } from "./csv-file.ts";
import { describe, describeBad, type Seen } from "./import-report.ts";
import { withOwner } from "./owner.ts";
import { count, showProgress } from "./progress.ts";

export const importCommand: Command = {
  summary: "puts the people in a CSV file on the list: all of them, or nobody where a line is wrong",
  details: [
    "The first line names the columns, in any order and case: name (or first name and last name), email, company",
    "or organisation; also job title, created at, status, utm_… and referrer, as export writes them. The delimiter",
    "is a comma, a semicolon or a tab, the text UTF-8. Each line must hold what a sign-up must; those that do not are",
    "named with their number. Addresses that are on the list already, or earlier in the file, are counted and skipped.",
    "A status that is not waiting, invited, joined or left, and a date that is not ISO 8601 or not past, is left out.",
  ].join("\n"),
  positionals: ["FILE"],
  options: { "dry-run": { description: "says what would happen, and changes nothing" } },
  run: async ({ positionals: [path = ""], has }) => {
    const file = await openCsv(path);
    await withOwner(async (client) => {
      // What follows leaves nothing behind unless it is committed.
      await client.query("BEGIN");
      const seen = await check(client, file);
      print(describe(seen, file.columns.ignored));
      if (seen.bad > 0) throw new OperatorError(describeBad(seen));
      if (has("dry-run")) {
        print(`Would import ${count(seen.entries - seen.known)}; nothing was changed.\n`);
        return;
      }
      const inserted = await insertAll(client, seen.entries).catch(sayNothingWasImported);
      await client.query("COMMIT").catch(sayItIsUnknown);
      print(`Imported ${count(inserted)}.\n`);
    });
  },
};

const mostComplaints = 100;
/** In characters. */
const chunkSize = 65_536;
/** In entries; how much is inserted between two looks at the progress. */
const batchSize = 10_000;

const columns = `${entryColumns}, created_at, status`;

/**
 * Puts the good lines into a table of this connection alone: until they are inserted, no sign-up has to wait for them,
 * and this process need not remember any.
 */
async function check(client: pg.Client, file: CsvFile): Promise<Seen> {
  const seen: Seen = { lines: 0, entries: 0, known: 0, bad: 0, complaints: [], unusable: { created_at: 0, status: 0 } };
  await client.query(
    `CREATE TEMP TABLE line ON COMMIT DROP AS SELECT 0 AS number, ${columns} FROM public.earlyaccess WITH NO DATA`,
  );
  const table = client.query(copyFrom(`COPY pg_temp.line (number, ${columns}) FROM STDIN`));
  await pipeline(readGoodLines(file, seen), table);
  // In the order of their addresses, as sign-ups are: two that insert the same ones never wait for each other in a circle.
  const { rowCount } = await client.query(
    `CREATE TEMP TABLE entry ON COMMIT DROP AS
     SELECT row_number() OVER () AS place, * FROM
       (SELECT DISTINCT ON (email COLLATE "C") * FROM pg_temp.line ORDER BY email COLLATE "C", number) AS first`,
  );
  await client.query("CREATE UNIQUE INDEX ON pg_temp.entry (place)");
  await client.query("ANALYZE pg_temp.entry");
  const { rows } = await client.query(
    "SELECT count(*)::int AS known FROM pg_temp.entry JOIN public.earlyaccess USING (email)",
  );
  return Object.assign(seen, { entries: rowCount ?? 0, known: rows[0].known as number });
}

/** The lines as COPY reads them; those that are not good are counted in `seen`. */
async function* readGoodLines(file: CsvFile, seen: Seen): AsyncGenerator<string> {
  const progress = showProgress("Check", file.size);
  let rows = "";
  let bytes = 0;
  for await (const line of readLines(file)) {
    seen.lines++;
    const read = readEntry(line);
    if (read.ok) {
      for (const column of read.unusable) seen.unusable[column]++;
      rows += toRow(line.number, read.entry);
    } else if (seen.bad++ < mostComplaints) seen.complaints.push(`Line ${line.number}: ${read.reason}`);
    if (rows.length < chunkSize) continue;
    yield rows;
    rows = "";
    progress.advance(line.bytes - bytes);
    bytes = line.bytes;
  }
  yield rows;
  progress.end();
}

const order = columns.split(", ") as (keyof ImportedEntry)[];

function toRow(number: number, entry: ImportedEntry): string {
  const cells = order.map((column) => {
    const value = entry[column];
    // No text of an entry has line ends or tabs.
    return value === null ? String.raw`\N` : String(value).replaceAll("\\", String.raw`\\`);
  });
  return `${number}\t${cells.join("\t")}\n`;
}

/** @returns how many were new. */
async function insertAll(client: pg.Client, entries: number): Promise<number> {
  const progress = showProgress("Import", entries);
  let inserted = 0;
  await client.query("SET LOCAL earlyaccess.silent = 'on'"); // Nobody is told of a whole list.
  for (let place = 0; place < entries; place += batchSize) {
    const { rowCount } = await client.query(insertBatch, [place, place + batchSize]);
    inserted += rowCount ?? 0;
    progress.advance(batchSize);
  }
  progress.end();
  return inserted;
}

const insertBatch = `
  INSERT INTO public.earlyaccess (${columns})
  SELECT ${entryColumns}, coalesce(created_at, CURRENT_TIMESTAMP), coalesce(status, 'waiting')
  FROM pg_temp.entry WHERE place > $1 AND place <= $2 ORDER BY place
  ON CONFLICT (email) DO NOTHING`;

/** Of a database error only the code: it may quote somebody's entry. */
function sayNothingWasImported(error: unknown): never {
  const reason = (error as { code?: string }).code ?? "the connection is gone";
  throw new OperatorError(`Postgres did not take them (${reason}); its log says more. Nothing was imported.`, {
    cause: error,
  });
}

/** Where no answer came, Postgres may have committed all the same. */
function sayItIsUnknown(error: unknown): never {
  if ((error as { severity?: string }).severity === "ERROR") sayNothingWasImported(error);
  throw new OperatorError(
    "The connection to Postgres was lost at the very end: all of them are on the list, or nobody is. " +
      "Import the file again; who is on the list already is skipped.",
    { cause: error },
  );
}
