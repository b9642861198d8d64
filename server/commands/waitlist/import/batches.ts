// The transactions of an import: short batches, and the removal of an import that failed.
import pg from "pg";
import { entryColumns } from "../../../models/waitlist-entry.ts";
import { OperatorError } from "../../../operator-messages.ts";
import { importedColumns } from "./lines.ts";
import { lockTimeoutMs, runTransaction } from "./transaction.ts";
import { showProgress } from "../progress.ts";

/** The advisory lock of an import's session: only one import runs at a time. */
const importLock = 4_155_222;
/** The advisory lock of a batch. The trigger earlyaccess_keep_sign_up shares it: a sign-up and a batch wait for each other. */
const batchLock = 4_155_221;
/** In entries. Sign-ups wait for each batch, so it must take well below 200 ms. */
const batchSize = 2_000;

/** @throws OperatorError if another import still runs after 5 s, the lock timeout of the connection. */
export async function lockImports(client: pg.Client): Promise<void> {
  await client.query("SELECT pg_advisory_lock($1)", [importLock]).catch((error: pg.DatabaseError) => {
    if (error.code !== "55P03") throw error;
    throw new OperatorError("Another import is running. Wait until it has ended, then import again.");
  });
}

/** Registers the import. From now on, sign-ups are protected from its removal. */
export async function startImport(client: pg.Client, id: string): Promise<void> {
  const register = `INSERT INTO public.earlyaccess_imports (id) VALUES (${pg.escapeLiteral(id)})`;
  await runTransaction(client, [...protectSignUps(true), register]);
}

/** @returns the number of entries whose address was not on the list. */
export async function insertEntries(client: pg.Client, id: string, entries: number): Promise<number> {
  const progress = showProgress("Import", entries);
  let inserted = 0;
  await client.query("SET earlyaccess.silent = 'on'"); // No webhooks for an import.
  for (let place = 0; place < entries; place += batchSize) {
    inserted += await runTransaction(client, [
      `SELECT pg_advisory_xact_lock(${batchLock})`,
      `INSERT INTO public.earlyaccess (${importedColumns}, import_id)
       SELECT ${entryColumns}, coalesce(created_at, CURRENT_TIMESTAMP), coalesce(status, 'waiting'), ${pg.escapeLiteral(id)}
       FROM pg_temp.entry WHERE place > ${place} AND place <= ${place + batchSize} ORDER BY place
       ON CONFLICT (email) DO NOTHING`,
    ]);
    progress.advance(batchSize);
  }
  progress.end();
  return inserted;
}

/** Makes the import final. */
export async function finishImport(client: pg.Client, id: string): Promise<void> {
  const finish = `UPDATE public.earlyaccess_imports SET finished_at = CURRENT_TIMESTAMP WHERE id = ${pg.escapeLiteral(id)}`;
  await runTransaction(client, [...protectSignUps(false), finish]);
}

/**
 * Removes the entries of imports that did not finish, except those whose address signed up meanwhile. Needs lockImports.
 * @returns the number of removed entries, or undefined if no import is unfinished.
 */
export async function removeUnfinished(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ id: string }>(
    "SELECT id FROM public.earlyaccess_imports WHERE finished_at IS NULL",
  );
  if (rows.length === 0) return undefined;
  let removed = 0;
  for (const { id } of rows) removed += await removeEntries(client, id);
  const forget = "DELETE FROM public.earlyaccess_imports WHERE finished_at IS NULL";
  await runTransaction(client, [...protectSignUps(false), forget]);
  return removed;
}

/** A sign-up that clears an import_id meanwhile is respected: Postgres checks the condition again on the locked row. */
async function removeEntries(client: pg.Client, id: string): Promise<number> {
  let removed = 0;
  let last = id; // The import made its own id first, and ids of one process ascend.
  for (;;) {
    const { rows } = await client.query<{ id: string }>(
      "SELECT id FROM public.earlyaccess WHERE import_id = $1 AND id > $2 ORDER BY id LIMIT $3",
      [id, last, batchSize],
    );
    const end = rows.at(-1)?.id;
    if (end === undefined) return removed;
    const [importId, after, upTo] = [id, last, end].map((value) => pg.escapeLiteral(value));
    removed += await runTransaction(client, [
      `DELETE FROM public.earlyaccess WHERE import_id = ${importId} AND id > ${after} AND id <= ${upTo}`,
    ]);
    last = end;
  }
}

export interface UnfinishedImport {
  /** In UTC. */
  startedAt: string;
  entries: number;
  isRunning: boolean;
}

export async function findUnfinished(client: pg.Client): Promise<UnfinishedImport | undefined> {
  const { rows } = await client.query<UnfinishedImport>(
    `SELECT to_char(min(started_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS "startedAt",
            NOT pg_try_advisory_xact_lock($1) AS "isRunning",
            (SELECT count(*)::int FROM public.earlyaccess WHERE import_id = ANY (array_agg(import.id))) AS entries
     FROM public.earlyaccess_imports AS import WHERE finished_at IS NULL HAVING count(*) > 0`,
    [importLock],
  );
  return rows[0];
}

function protectSignUps(enabled: boolean): string[] {
  return [
    // Autovacuum gives way to this lock after a second, during which sign-ups go on; ALTER TABLE would make them wait.
    "SET LOCAL lock_timeout = '5s'",
    "LOCK TABLE public.earlyaccess IN SHARE UPDATE EXCLUSIVE MODE",
    `SET LOCAL lock_timeout = ${lockTimeoutMs}`,
    `ALTER TABLE public.earlyaccess ${enabled ? "ENABLE" : "DISABLE"} TRIGGER earlyaccess_keep_sign_up`,
  ];
}
