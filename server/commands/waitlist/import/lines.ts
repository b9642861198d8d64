// Copies the lines of an imported file into a temporary table, and counts valid, invalid, erased and known ones.
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { hashAddress } from "../../../database/erasures.ts";
import { entryColumns } from "../../../models/waitlist-entry.ts";
import { readEntry, type ImportedEntry } from "./csv-entry.ts";
import { readLines, type CsvFile } from "./csv-file.ts";
import { removeErasedLines } from "./erased.ts";
import type { Seen } from "./report.ts";
import { showProgress } from "../progress.ts";

const mostComplaints = 100;
/** In characters. */
const chunkSize = 65_536;
/** The columns that an import fills, in pg_temp.entry and in earlyaccess. */
export const importedColumns = `${entryColumns}, created_at, status`;

/**
 * Puts the entries of the file into the temporary table `entry`, in the order of their addresses. Writes to no other table,
 * so that no sign-up waits, and keeps no entry in memory.
 * @param key of the hashes of erased addresses, whose lines are left out; undefined if none are kept.
 */
export async function readEntries(client: pg.Client, file: CsvFile, key: string | undefined): Promise<Seen> {
  const seen: Seen = { lines: 0, entries: 0, known: 0, bad: 0, complaints: [], unusable: { created_at: 0, status: 0 } };
  await client.query(
    `CREATE TEMP TABLE line AS SELECT 0 AS number, ${importedColumns}, ''::bytea AS hash
     FROM public.earlyaccess WITH NO DATA`,
  );
  const table = client.query(copyFrom(`COPY pg_temp.line (number, ${importedColumns}, hash) FROM STDIN`));
  await pipeline(readGoodLines(file, seen, key), table);
  if (key !== undefined) seen.erased = await removeErasedLines(client);
  // Sign-ups are inserted in the same order: a deadlock with an import is impossible.
  const { rowCount } = await client.query(
    `CREATE TEMP TABLE entry AS
     SELECT row_number() OVER () AS place, * FROM
       (SELECT DISTINCT ON (email COLLATE "C") * FROM pg_temp.line ORDER BY email COLLATE "C", number) AS first`,
  );
  await client.query("CREATE UNIQUE INDEX ON pg_temp.entry (place)");
  await client.query("ANALYZE pg_temp.entry");
  const { rows } = await client.query(
    `SELECT count(*)::int AS known FROM pg_temp.entry JOIN public.earlyaccess AS listed USING (email)
     WHERE NOT EXISTS (SELECT FROM public.earlyaccess_imports AS import
                       WHERE import.id = listed.import_id AND import.finished_at IS NULL)`,
  );
  return Object.assign(seen, { entries: rowCount ?? 0, known: rows[0].known as number });
}

/** Yields the valid lines in the text format of COPY, and counts the others in `seen`. */
async function* readGoodLines(file: CsvFile, seen: Seen, key: string | undefined): AsyncGenerator<string> {
  const progress = showProgress("Check", file.size);
  let rows = "";
  let bytes = 0;
  for await (const line of readLines(file)) {
    seen.lines++;
    const read = readEntry(line);
    if (read.ok) {
      for (const column of read.unusable) seen.unusable[column]++;
      rows += toRow(line.number, read.entry, key);
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

const order = importedColumns.split(", ") as (keyof ImportedEntry)[];

function toRow(number: number, entry: ImportedEntry, key: string | undefined): string {
  const cells = order.map((column) => {
    const value = entry[column];
    // The checks of a sign-up refuse line breaks and tabs.
    return value === null ? String.raw`\N` : String(value).replaceAll("\\", String.raw`\\`);
  });
  const hash = key === undefined ? String.raw`\N` : String.raw`\\x` + hashAddress(entry.email, key).toString("hex");
  return `${number}\t${cells.join("\t")}\t${hash}\n`;
}
