// waitlist import: adds the entries of a CSV file, after all of its lines passed the checks of a sign-up.
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { v7 as uuidv7 } from "uuid";
import { entryColumns } from "../../database/columns.ts";
import { errorFields } from "../../database/error-fields.ts";
import { hashAddress, requireErasureKey } from "../../database/erasures.ts";
import { WaitlistStatus } from "../../database/generated/enums.ts";
import { listNames, OperatorError } from "../../operator-messages.ts";
import { parseEntry, type WaitlistEntry } from "../../models/waitlist-entry.ts";
import { count, print } from "../print.ts";
import type { Command } from "./command.ts";
import { openCsv, type CsvFile, type CsvLine } from "./import-file.ts";
import { readMoment } from "./moment.ts";
import { withOwner } from "./owner.ts";

export const importCommand: Command = {
  summary: "adds the entries of a CSV file to the list, or none if a line is invalid",
  details: [
    "The first line names the columns, in any order and case: name (or first name and last name), email, company",
    "or organisation; also job title, created at, status, utm_… and referrer, as export writes them. import names and ignores",
    "other columns; confirmed_at is one, because only the link in the confirmation mail confirms an address. The delimiter is",
    "a comma, a semicolon or a tab, the text UTF-8, a line at most 64 KiB. Each line must pass the checks of a sign-up; import",
    "names those that do not. It ignores a status that is not waiting, invited, joined or left, and a date that is not",
    "ISO 8601 or not past. It skips addresses that are on the list or earlier in the file and, with ERASURE_KEY, erased",
    "addresses, unless the line's created at is later than the erasure.",
    "The site may run meanwhile: entries are committed 1,000 at a time. If import stops midway, run the same command again.",
  ].join("\n"),
  positionals: ["FILE"],
  options: { "dry-run": { description: "report what an import would do, and change nothing" } },
  run: async ({ positionals: [path = ""], has }) => {
    const file = await openCsv(path);
    await withOwner(async (client, { erasureKey }) => {
      await requireErasureKey(client, erasureKey);
      const summary = await copyLines(client, file, erasureKey);
      print(formatSummary(summary, file.ignored));
      if (summary.invalid > 0) throw new OperatorError(formatErrors(summary));
      if (has("dry-run")) print(`Would import ${count(summary.entries - summary.known)}; nothing was changed.\n`);
      else print(`Imported ${count(await insertEntries(client, summary.valid, erasureKey !== undefined))}.\n`);
    });
  },
};

interface ImportSummary {
  valid: number;
  invalid: number;
  /** What is wrong with the first invalid lines. */
  errors: string[];
  /** The lines with a value that is not used. */
  unusable: Record<"created_at" | "status", number>;
  /** The lines whose address was erased; undefined if no erased addresses are kept. */
  erased?: number;
  /** The number of different addresses, without erased ones. */
  entries: number;
  /** Those of `entries` that are already on the list. */
  known: number;
}

const maxErrors = 20;
/** In entries. A sign-up of one of their addresses waits for the transaction. */
const batchSize = 1_000;
const columns = `${entryColumns}, created_at, status`;

/** An SQL condition: the person did not sign up again after the erasure. Without a date, a line may be older than that. */
const isErased = `EXISTS (SELECT FROM earlyaccess_erasures.addresses AS erased
  WHERE erased.hash = line.hash AND (line.created_at IS NULL OR line.created_at <= erased_at))`;

/**
 * Copies the valid lines into the temporary table `line`, numbered by `row_number` from 1. Writes to no other table, so that no
 * sign-up waits, and keeps no entry in memory.
 * @param key of the hashes of erased addresses, whose lines are left out; undefined if none are kept.
 */
async function copyLines(client: pg.Client, { lines }: CsvFile, key: string | undefined): Promise<ImportSummary> {
  const summary: ImportSummary = {
    valid: 0,
    invalid: 0,
    errors: [],
    entries: 0,
    known: 0,
    unusable: { created_at: 0, status: 0 },
  };
  await client.query(
    `CREATE TEMP TABLE line AS SELECT 0 AS row_number, ${columns}, ''::bytea AS hash FROM public.earlyaccess WITH NO DATA`,
  );
  const table = client.query(copyFrom(`COPY pg_temp.line (row_number, ${columns}, hash) FROM STDIN`));
  await pipeline(readRows(lines, summary, key), table);
  await client.query("CREATE INDEX ON pg_temp.line (row_number)");
  await client.query("ANALYZE pg_temp.line");
  if (key !== undefined) {
    summary.erased = (await client.query(`DELETE FROM pg_temp.line WHERE ${isErased}`)).rowCount ?? 0;
  }
  const { rows } = await client.query<Pick<ImportSummary, "entries" | "known">>(
    `SELECT count(*)::int AS entries, count(listed.id)::int AS known
     FROM (SELECT DISTINCT email COLLATE "C" AS email FROM pg_temp.line) AS line LEFT JOIN public.earlyaccess AS listed USING (email)`,
  );
  return Object.assign(summary, rows[0]);
}

interface ImportedEntry extends WaitlistEntry {
  id: string;
  /** ISO 8601; null means now. */
  created_at: string | null;
  /** Null means waiting. */
  status: string | null;
}

const order = columns.split(", ") as (keyof ImportedEntry)[];

/** In characters. */
const chunkSize = 65_536;

/** Yields the valid lines in the text format of COPY, and counts all in `summary`. */
async function* readRows(lines: CsvFile["lines"], summary: ImportSummary, key: string | undefined) {
  let chunk = "";
  for await (const line of lines) {
    const read = readLine(line, summary.unusable);
    if (typeof read === "string") {
      if (summary.invalid++ < maxErrors) summary.errors.push(`Line ${line.number}: ${read}`);
      continue;
    }
    const hash = key === undefined ? null : `\\x${hashAddress(read.email, key).toString("hex")}`;
    chunk += formatRow([++summary.valid, ...order.map((column) => read[column]), hash]);
    if (chunk.length < chunkSize) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}

/** Returns the entry, or what is wrong: fields and rules, no value. Counts values that are not used. */
function readLine({ cells }: CsvLine, unusable: ImportSummary["unusable"]): ImportedEntry | string {
  if (!cells) return "more cells than the header has";
  const { first_name = "", last_name = "", referrer_host: referrer, ...rest } = cells;
  const parsed = parseEntry({ ...rest, name: rest.name ?? `${first_name} ${last_name}`, referrer });
  if (!parsed.ok) {
    const reasons = Object.entries(parsed.errors).map(([field, error]) => `${field}: ${error}`);
    return reasons.join(" ");
  }
  const date = (rest.created_at ?? "").trim();
  const moment = readMoment(date);
  const created_at = moment && moment.getTime() <= Date.now() ? moment.toISOString() : null;
  const word = (rest.status ?? "").trim().toLowerCase();
  const status = Object.hasOwn(WaitlistStatus, word) ? word : null;
  if (date && !created_at) unusable.created_at++;
  if (word && !status) unusable.status++;
  const isTrue = (cell = "") => /^t(?:rue)?$/i.test(cell);
  const flags = { suspected_spam: isTrue(rest.suspected_spam), unusual_volume: isTrue(rest.unusual_volume) };
  return { ...parsed.entry, ...flags, id: uuidv7(), created_at, status };
}

/** The checks of a sign-up refuse line breaks and tabs. */
function formatRow(cells: (string | number | boolean | null)[]): string {
  return `${cells.map((cell) => (cell === null ? String.raw`\N` : String(cell).replaceAll("\\", "\\\\"))).join("\t")}\n`;
}

/**
 * Inserts the lines in batches, without webhooks and mails.
 * @returns the number of entries whose address was not on the list.
 * @throws OperatorError if a batch fails; the batches before it stay.
 */
async function insertEntries(client: pg.Client, lines: number, hasErasures: boolean): Promise<number> {
  // Sign-ups are inserted in the same order: a deadlock with an import is impossible.
  const insert = `INSERT INTO public.earlyaccess (${columns}, imported)
    SELECT ${entryColumns}, coalesce(created_at, CURRENT_TIMESTAMP), coalesce(status, 'waiting'), true
    FROM pg_temp.line WHERE row_number > $1 AND row_number <= $2 ${hasErasures ? `AND NOT ${isErased}` : ""}
    ORDER BY email COLLATE "C", row_number ON CONFLICT DO NOTHING`;
  let inserted = 0;
  try {
    // Sign-ups of a batch queue behind a lock that the import waits for, so it gives up early and tries again.
    await client.query("SET lock_timeout = '300ms'; SET earlyaccess.silent = 'on'");
    for (let done = 0; done < lines; done += batchSize) {
      inserted += await retryWhileLocked(() => client.query(insert, [done, done + batchSize]));
    }
    return inserted;
  } catch (error) {
    const reason = errorFields(error).code ?? "the connection is lost";
    throw new OperatorError(
      `The import stopped after ${count(inserted)} new entries (${reason}). Run the same command again: it skips addresses that are on the list.`,
      { cause: error },
    );
  }
}

/** Tries ten times. Returns the number of rows. */
async function retryWhileLocked(query: () => Promise<pg.QueryResult>, attempts = 10): Promise<number> {
  try {
    return (await query()).rowCount ?? 0;
  } catch (error) {
    if (errorFields(error).code !== "55P03" || attempts === 1) throw error;
    return retryWhileLocked(query, attempts - 1);
  }
}

function formatSummary(summary: ImportSummary, ignored: string[]): string {
  const { valid, invalid, erased, entries, known, unusable } = summary;
  const twice = valid - (erased ?? 0) - entries;
  const counts = [
    `${count(valid + invalid)} lines, ${count(known)} already on the list, ${count(twice)} twice in the file`,
    ...(erased === undefined ? [] : [`${count(erased)} erased`]),
    `${count(invalid)} wrong`,
  ];
  const facts = [`${counts.join(", ")}.`];
  if (ignored.length > 0) facts.push(`Ignored columns: ${listNames(ignored)}.`);
  if (unusable.created_at)
    facts.push(`${count(unusable.created_at)} dates are unusable; import uses the current time.`);
  if (unusable.status) facts.push(`${count(unusable.status)} statuses are unknown; import uses waiting.`);
  return `${facts.join("\n")}\n`;
}

function formatErrors({ errors, invalid }: ImportSummary): string {
  const more = invalid > errors.length ? [`… and ${count(invalid - errors.length)} more.`] : [];
  return [...errors, ...more, "Nothing was imported."].join("\n");
}
