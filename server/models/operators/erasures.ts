// A person's stored data, its erasure, and the retention period. Erased addresses are stored as keyed hashes in a schema that backups exclude.
import type pg from "pg";
import { hashEmail } from "../../database/erasure-key.ts";
import { normaliseEmail } from "../sign-up-rules.ts";

/** Times are in ISO 8601, bytes in hexadecimal. */
export interface Person {
  entry: { id: string; email: string; created_at: string; status: string; [column: string]: string | boolean | null };
  notice: { id: string; text: string; shown_at: string } | null;
  /** The oldest first. */
  status_changes: { changed_at: string; changed_by: string; old_status: string; new_status: string }[];
  /** Undefined if the database has none, or this role may not read them. */
  mailings?: { name: string; outcome: string | null; tried_at: string | null }[];
}

/** Returns an address as Prisma Studio and as a sign-up may have stored it; Studio accepts addresses that a sign-up refuses. */
export function spellingsOf(email: string): [typed: string, normalised: string] {
  const typed = email.trim().normalize("NFC").toLowerCase();
  return [typed, normaliseEmail(email) ?? typed];
}

/** Finds the entries of an address: more than one only if the list, edited by hand, has it in two spellings. */
export async function findPeople(client: pg.Client, email: string): Promise<Person[]> {
  const { rows } = await client.query<Person>(
    `SELECT row_to_json(listed) AS entry,
       (SELECT row_to_json(notice) FROM public.earlyaccess_notices AS notice WHERE notice.id = notice_id) AS notice,
       (SELECT coalesce(json_agg(change ORDER BY id), '[]') FROM public.earlyaccess_status_changes AS change
        WHERE entry_id = listed.id) AS status_changes
     FROM public.earlyaccess AS listed WHERE email = ANY ($1) ORDER BY email`,
    [spellingsOf(email)],
  );
  return rows;
}

/** A connection, or the helpers of a job. */
interface Queryable {
  query(sql: string, values: unknown[]): Promise<{ rows: Listed[]; rowCount: number | null }>;
}

interface Listed {
  id: string;
  email: string;
}

const batchSize = 2_000;

/**
 * Deletes entries, and keeps the hashes of their addresses if there is a key, in one statement.
 * @param entries with the id null if the list has no such entry, but a backup or a CSV file may.
 */
export async function eraseEntries(
  client: Queryable,
  entries: { id: string | null; email: string }[],
  key: string | undefined,
): Promise<void> {
  const ids = entries.map(({ id }) => id);
  if (key === undefined) {
    await client.query("DELETE FROM public.earlyaccess WHERE id = ANY ($1)", [ids]);
    return;
  }
  await client.query(
    `WITH entry AS (SELECT * FROM unnest($1::uuid[], $2::bytea[]) AS entry (id, hash)),
     erased AS (DELETE FROM public.earlyaccess AS listed USING entry WHERE listed.id = entry.id)
     INSERT INTO earlyaccess_erasures.addresses (hash) SELECT DISTINCT hash FROM entry
     ON CONFLICT (hash) DO UPDATE SET erased_at = CURRENT_TIMESTAMP`,
    [ids, entries.map(({ email }) => hashEmail(email, key))],
  );
}

/** An SQL condition: the entry is older than the months of the first parameter; with 0 months, none is. */
const oldSql = "$1::int > 0 AND created_at < CURRENT_TIMESTAMP - make_interval(months => $1::int)";

export async function purgeOld(client: Queryable, months: number, key: string | undefined): Promise<number> {
  const select = `SELECT id, email FROM public.earlyaccess WHERE ${oldSql} LIMIT ${batchSize}`;
  let purged = 0;
  for (;;) {
    const { rows } = await client.query(select, [months]);
    if (rows.length === 0) return purged;
    await eraseEntries(client, rows, key);
    purged += rows.length;
  }
}

export async function countOld(client: pg.Client, months: number): Promise<number> {
  const { rows } = await client.query(`SELECT count(*)::int AS old FROM public.earlyaccess WHERE ${oldSql}`, [months]);
  return rows[0].old as number;
}

/**
 * Deletes entries that a restore or an import brought back: their address was erased after their sign-up, or their sign-up was
 * undone. For an undone entry, the table has its id (earlyaccess_leave). Returns their number.
 * @param dryRun counts them only.
 */
export async function eraseAgain(client: Queryable, key: string, dryRun = false): Promise<number> {
  const select = `SELECT id, email FROM public.earlyaccess WHERE id > $1 ORDER BY id LIMIT ${batchSize}`;
  const [act, using] = dryRun ? ["SELECT", ","] : ["DELETE", "USING"];
  let erased = 0;
  let last = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const { rows } = await client.query(select, [last]);
    const end = rows.at(-1)?.id;
    if (end === undefined) return erased;
    const { rowCount } = await client.query(
      `${act} FROM public.earlyaccess AS listed ${using} unnest($1::uuid[], $2::bytea[]) AS entry (id, hash)
         JOIN earlyaccess_erasures.addresses AS erased ON erased.hash IN (entry.hash, uuid_send(entry.id))
       WHERE listed.id = entry.id AND listed.created_at <= erased_at`,
      [rows.map(({ id }) => id), rows.map(({ email }) => hashEmail(email, key))],
    );
    erased += rowCount ?? 0;
    last = end;
  }
}

/** Returns when the address was erased, or undefined. */
export async function findErasure(client: pg.Client, email: string, key: string): Promise<string | undefined> {
  const normalised = normaliseEmail(email);
  if (!normalised) return undefined;
  const { rows } = await client.query<{ erased_at: string }>(
    "SELECT to_json(erased_at) AS erased_at FROM earlyaccess_erasures.addresses WHERE hash = $1",
    [hashEmail(normalised, key)],
  );
  return rows[0]?.erased_at;
}
