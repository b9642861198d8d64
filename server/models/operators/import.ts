// The entries of an import: checked in a temporary table first, then inserted in batches while people sign up.
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { errorFields } from "../../errors.ts";
import { entryColumns } from "../../database/columns.ts";
import type { WaitlistEntry } from "../sign-up-rules.ts";

export interface ImportedEntry extends WaitlistEntry {
  id: string;
  /** ISO 8601; null means now. */
  created_at: string | null;
  /** Null means waiting. */
  status: string | null;
  confirmed_at: string | null;
  /** What keeps mails from the address on another host of this list, or null. */
  mail_refusal: string | null;
  /** False for a sign-up on another host of this list. */
  imported: boolean;
}

/** What becomes of the entries of a file. */
export interface CheckedEntries {
  /** The number of entries, which pass the checks of a sign-up. */
  valid: number;
  /** Those whose address was erased. */
  erased: number;
  /** The number of different addresses, without erased ones. */
  entries: number;
  /** The number of `entries` that are already on the list. */
  known: number;
}

/** Entries per transaction. Meanwhile, a sign-up of one of their addresses gets 503. */
const batchSize = 1_000;
const columns = `${entryColumns}, created_at, status, confirmed_at, mail_refusal, imported`;
const order = columns.split(", ") as (keyof ImportedEntry)[];

/** An SQL condition: the person did not sign up again after the erasure. A line without a date may be older than the erasure. */
const erasedSql = `EXISTS (SELECT FROM earlyaccess_kept.addresses AS erased
  WHERE erased.hash = earlyaccess_kept.hash_email(line.email) AND (line.created_at IS NULL OR line.created_at <= erased_at))`;

/** Characters of lines that are sent together, because each single line would cost a write to the socket. */
const chunkLength = 65_536;

/**
 * Copies entries into the temporary table `line`, without erased ones, and counts them. Writes to no other table, so that no sign-up
 * waits, and keeps no entry in memory.
 */
export async function checkEntries(client: pg.Client, entries: AsyncIterable<ImportedEntry>): Promise<CheckedEntries> {
  const valid = await copyEntries(client, entries);
  const erased = await deleteErased(client);
  return { valid, erased, ...(await countEmails(client)) };
}

/** The table numbers the entries by `row_number` from 1. Returns their number. */
async function copyEntries(client: pg.Client, entries: AsyncIterable<ImportedEntry>) {
  await client.query(
    `CREATE TEMP TABLE line AS SELECT 0 AS row_number, ${columns} FROM public.earlyaccess WITH NO DATA`,
  );
  let copied = 0;
  async function* formatLines() {
    let chunk = "";
    for await (const entry of entries) {
      chunk += formatLine(++copied, entry);
      if (chunk.length < chunkLength) continue;
      yield chunk;
      chunk = "";
    }
    yield chunk;
  }
  await pipeline(formatLines(), client.query(copyFrom(`COPY pg_temp.line (row_number, ${columns}) FROM STDIN`)));
  await client.query("CREATE INDEX ON pg_temp.line (row_number)");
  await client.query("ANALYZE pg_temp.line");
  return copied;
}

/** Returns a line in the text format of COPY. */
function formatLine(number: number, entry: ImportedEntry): string {
  const values = [number, ...order.map((column) => entry[column])];
  return `${values.map(formatValue).join("\t")}\n`;
}

/** No value that passed the checks of a sign-up has a line break or a tab. */
function formatValue(value: string | number | boolean | null): string {
  return value === null ? String.raw`\N` : String(value).replaceAll("\\", "\\\\");
}

async function deleteErased(client: pg.Client): Promise<number> {
  return (await client.query(`DELETE FROM pg_temp.line WHERE ${erasedSql}`)).rowCount ?? 0;
}

async function countEmails(client: pg.Client): Promise<{ entries: number; known: number }> {
  const { rows } = await client.query<{ entries: number; known: number }>(
    `SELECT count(*)::int AS entries, count(listed.id)::int AS known
     FROM (SELECT DISTINCT email COLLATE "C" AS email FROM pg_temp.line) AS line LEFT JOIN public.earlyaccess AS listed USING (email)`,
  );
  return rows[0] as { entries: number; known: number };
}

/**
 * Inserts the lines in batches, without webhooks and mails. If a batch fails, the batches before it stay.
 * @param lines the largest row_number.
 * @returns the number of entries whose address was not on the list.
 */
export async function insertLines(client: pg.Client, lines: number): Promise<number> {
  // Sign-ups are inserted in the same order: otherwise, the import and a batch could each hold an entry that the other needs.
  const insert = `INSERT INTO public.earlyaccess (${columns})
    SELECT ${entryColumns}, coalesce(created_at, CURRENT_TIMESTAMP), coalesce(status, 'waiting'), confirmed_at, mail_refusal, imported
    FROM pg_temp.line WHERE row_number > $1 AND row_number <= $2 AND NOT ${erasedSql}
    ORDER BY email COLLATE "C", row_number ON CONFLICT DO NOTHING`;
  // While the import waits for a lock, it holds entries whose sign-ups get 503, so it gives up early and retries.
  await client.query("SET lock_timeout = '300ms'; SET earlyaccess.silent = 'on'");
  let inserted = 0;
  for (let done = 0; done < lines; done += batchSize) {
    inserted += await retryWhileLocked(() => client.query(insert, [done, done + batchSize]));
  }
  return inserted;
}

async function retryWhileLocked(query: () => Promise<pg.QueryResult>, attempts = 10): Promise<number> {
  try {
    return (await query()).rowCount ?? 0;
  } catch (error) {
    if (errorFields(error).code !== "55P03" || attempts === 1) throw error;
    await sleep(300); // For the sign-ups that waited for the failed attempt.
    return retryWhileLocked(query, attempts - 1);
  }
}
