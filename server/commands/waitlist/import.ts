// waitlist import: the list of another tool, all of it or nothing.
import type pg from "pg";
import { entryColumns } from "../../models/waitlist-entry.ts";
import { OperatorError } from "../../operator-error.ts";
import type { Command } from "./command.ts";
import { readEntry, type ImportedEntry } from "./csv-entry.ts";
import { openCsv, readLines, type CsvFile } from "./csv-file.ts";
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
      // Looked through as a whole first: while it imports, a sign-up with one of its addresses would have to wait.
      const seen = await check(client, file);
      process.stdout.write(describe(seen, file.columns.ignored));
      if (seen.bad > 0) throw new OperatorError(describeBad(seen));
      if (has("dry-run"))
        process.stdout.write(`Would import ${count(seen.entries - seen.known)}; nothing was changed.\n`);
      else process.stdout.write(`Imported ${count(await insertAll(client, file))}.\n`);
    });
  },
};

interface Seen {
  lines: number;
  /** Different addresses. */
  entries: number;
  /** Of these, on the list already. */
  known: number;
  bad: number;
  /** The first of the bad lines. */
  complaints: string[];
  unusable: Record<"created_at" | "status", number>;
}

const batchSize = 1_000;
const mostComplaints = 100;

async function check(client: pg.Client, file: CsvFile): Promise<Seen> {
  const seen: Seen = { lines: 0, entries: 0, known: 0, bad: 0, complaints: [], unusable: { created_at: 0, status: 0 } };
  const addresses = new Set<string>();
  // Postgres does not know yet how large the list is after the last import, and would read all of it for each batch.
  await client.query("SET enable_seqscan = off");
  for await (const batch of readBatches(file, "Check", (line, reason) => {
    seen.bad++;
    if (seen.complaints.length < mostComplaints) seen.complaints.push(`Line ${line}: ${reason}`);
  })) {
    const fresh = batch.map(({ entry }) => entry.email).filter((email) => !addresses.has(email));
    for (const email of fresh) addresses.add(email);
    for (const { unusable } of batch) for (const column of unusable) seen.unusable[column]++;
    const { rows } = await client.query(
      "SELECT count(*)::int AS known FROM public.earlyaccess WHERE email = ANY ($1::text[])",
      [[...new Set(fresh)]],
    );
    seen.lines += batch.length;
    seen.known += rows[0].known as number;
  }
  seen.lines += seen.bad;
  seen.entries = addresses.size;
  return seen;
}

/** @returns how many were new. */
async function insertAll(client: pg.Client, file: CsvFile): Promise<number> {
  let inserted = 0;
  await client.query("BEGIN");
  await client.query("SET LOCAL earlyaccess.silent = 'on'"); // Nobody is told of a whole list.
  // The line was good a moment ago: somebody changes the file.
  const changed = (line: number) => {
    throw new OperatorError(`${file.path} changed meanwhile, at line ${line}. Nothing was imported.`);
  };
  for await (const batch of readBatches(file, "Import", changed)) {
    const { rowCount } = await client.query(insertBatch, [JSON.stringify(batch.map(({ entry }) => entry))]);
    inserted += rowCount ?? 0;
  }
  await client.query("COMMIT");
  return inserted;
}

const insertBatch = `
  INSERT INTO public.earlyaccess (${entryColumns}, created_at, status)
  SELECT ${entryColumns}, coalesce(created_at, CURRENT_TIMESTAMP), coalesce(status, 'waiting')
  FROM json_populate_recordset(null::public.earlyaccess, $1::json)
  ON CONFLICT (email) DO NOTHING`;

type GoodLine = { entry: ImportedEntry; unusable: ("created_at" | "status")[] };

async function* readBatches(file: CsvFile, what: string, onBad: (line: number, reason: string) => void) {
  const progress = showProgress(what, file.size);
  let batch: GoodLine[] = [];
  let bytes = 0;
  for await (const line of readLines(file)) {
    const read = readEntry(line);
    if (read.ok) batch.push(read);
    else onBad(line.number, read.reason);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
    progress.advance(line.bytes - bytes);
    bytes = line.bytes;
  }
  if (batch.length > 0) yield batch;
  progress.end();
}

function describe({ lines, entries, known, bad, unusable }: Seen, ignored: string[]): string {
  const facts = [
    `${count(lines)} lines, ${count(known)} already on the list, ${count(lines - bad - entries)} twice in the file, ${count(bad)} wrong.`,
  ];
  if (ignored.length > 0) facts.push(`Columns that mean nothing here: ${ignored.join(", ")}.`);
  if (unusable.created_at) facts.push(`${count(unusable.created_at)} dates cannot be used; those count as of now.`);
  if (unusable.status) facts.push(`${count(unusable.status)} statuses are unknown; those count as waiting.`);
  return `${facts.join("\n")}\n`;
}

function describeBad({ complaints, bad }: Seen): string {
  const more = bad > complaints.length ? [`… and ${count(bad - complaints.length)} more.`] : [];
  return [...complaints, ...more, "Nothing was imported."].join("\n");
}
