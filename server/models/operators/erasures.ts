// A person's stored data, its erasure, and the retention period. What an erasure leaves: server/database/kept-schema.ts.
import type { JobHelpers } from "graphile-worker";
import type pg from "pg";
import { normaliseEmail } from "../sign-up-rules.ts";

/** Times are in ISO 8601, bytes in hexadecimal. */
export interface Person {
  entry: { id: string; email: string; created_at: string; status: string; [column: string]: string | boolean | null };
  notice: { id: string; text: string; shown_at: string } | null;
  /** The oldest first. */
  status_changes: { changed_at: string; changed_by: string; old_status: string; new_status: string }[];
  /** Undefined if this role may not read them. */
  mailings?: { name: string; outcome: string | null; tried_at: string | null; reply: string | null }[];
}

/** @param email in any spelling. */
export async function findPerson(client: pg.Client, email: string): Promise<Person | undefined> {
  const { rows } = await client.query<Person>(
    `SELECT row_to_json(listed) AS entry,
       (SELECT row_to_json(notice) FROM public.earlyaccess_notices AS notice WHERE notice.id = notice_id) AS notice,
       (SELECT coalesce(json_agg(change ORDER BY id), '[]') FROM public.earlyaccess_status_changes AS change
        WHERE entry_id = listed.id) AS status_changes
     FROM public.earlyaccess AS listed WHERE email = $1`,
    [normaliseEmail(email)],
  );
  return rows[0];
}

type Queue = Pick<JobHelpers, "query">;

/** Returns whether this role may read mailings and erasures: an admin may not. */
export async function mayReadKept(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    "SELECT has_schema_privilege(to_regnamespace('earlyaccess_kept'), 'USAGE') AS may",
  );
  return rows[0].may === true;
}

/**
 * Deletes entries by their ids, and keeps the hashes of their addresses.
 * @param emails addresses whose hashes it keeps, too: a backup or a CSV file may have one that the list lacks.
 */
export async function eraseEntries(owner: pg.Client, ids: string[], emails: string[]): Promise<void> {
  await owner.query("BEGIN");
  await owner.query("SELECT earlyaccess_kept.keep_erased($1)", [ids]);
  await owner.query(
    `INSERT INTO earlyaccess_kept.addresses (hash) SELECT DISTINCT earlyaccess_kept.hash_email(email) FROM unnest($1::text[]) AS email
     ON CONFLICT (hash) DO UPDATE SET erased_at = CURRENT_TIMESTAMP`,
    [emails],
  );
  // The pace counts a job also without its entry: those of erased bots would use up the day.
  const { rows } = await owner.query("SELECT to_regnamespace('graphile_worker') IS NOT NULL AS \"hasQueue\"");
  if (rows[0].hasQueue) {
    await owner.query("SELECT graphile_worker.remove_job('mail ' || id) FROM unnest($1::uuid[]) AS id", [ids]);
  }
  await owner.query("COMMIT");
}

/** An SQL condition: the entry is older than the months of the first parameter and the days of the second; with 0 months, none is. */
const oldSql = "$1::int > 0 AND created_at < CURRENT_TIMESTAMP - make_interval(months => $1::int, days => $2::int)";

/** In statements of 2,000 entries: a sign-up of an address whose entry one holds gets 503. */
export async function purgeOld(queue: Queue, months: number): Promise<number> {
  const statement = `SELECT earlyaccess_kept.keep_erased(ARRAY(SELECT id FROM public.earlyaccess WHERE ${oldSql} LIMIT 2000)) AS deleted`;
  for (let purged = 0; ;) {
    const { deleted } = (await queue.query<{ deleted: number }>(statement, [months, 0])).rows[0] ?? { deleted: 0 };
    if (deleted === 0) return purged;
    purged += deleted;
  }
}

/** @param days since the entries became too old. */
export async function countOld(client: pg.Client, months: number, days = 0): Promise<number> {
  const { rows } = await client.query(`SELECT count(*)::int AS old FROM public.earlyaccess WHERE ${oldSql}`, [
    months,
    days,
  ]);
  return rows[0].old as number;
}

/** Deletes entries that a restore or an import brought back: their address was erased, or their sign-up undone. Returns their number. */
export async function eraseAgain(queue: Queue): Promise<number> {
  const { rows } = await queue.query<{ deleted: number }>("SELECT earlyaccess_kept.erase_again() AS deleted");
  return rows[0]?.deleted ?? 0;
}

export async function countBroughtBack(owner: pg.Client): Promise<number> {
  const { rows } = await owner.query("SELECT count(*)::int AS entries FROM earlyaccess_kept.brought_back()");
  return rows[0].entries as number;
}

/** Returns when the address was erased, or undefined. */
export async function findErasure(client: pg.Client, email: string): Promise<string | undefined> {
  const normalised = normaliseEmail(email);
  if (!normalised) return undefined;
  const { rows } = await client.query<{ erased_at: string }>(
    "SELECT to_json(erased_at) AS erased_at FROM earlyaccess_kept.addresses WHERE hash = earlyaccess_kept.hash_email($1)",
    [normalised],
  );
  return rows[0]?.erased_at;
}
