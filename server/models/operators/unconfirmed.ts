// UNCONFIRMED_DAYS: the deletion of entries that nobody confirmed. No hash is kept: nobody showed that the address is a person's.
import type pg from "pg";
import type { JobHelpers } from "graphile-worker";

/**
 * An SQL condition on `entry`: its latest mail, or the sign-up of an address that the mail server refused at once, is older than the
 * days of the first parameter, and no job waits, as after a repeated sign-up of the last day. Somebody who never had a mail stays:
 * nobody asked that person.
 */
const unconfirmedSql = `status = 'waiting' AND NOT imported AND NOT suspected_spam AND confirmed_at IS NULL
  AND coalesce(mailed_at, CASE WHEN mail_refusal IS NOT NULL THEN created_at END) < CURRENT_TIMESTAMP - make_interval(days => $1::int)
  AND NOT EXISTS (SELECT FROM graphile_worker.jobs WHERE key = 'mail ' || entry.id AND attempts < max_attempts)`;

/**
 * In small statements: a sign-up of an address whose entry one holds gets 503. The condition stands twice, because Postgres asks only
 * that of the DELETE again for an entry that was confirmed while the statement waited for it.
 */
const deleteSql = `DELETE FROM public.earlyaccess AS entry
  WHERE id IN (SELECT id FROM public.earlyaccess AS entry WHERE ${unconfirmedSql} LIMIT 200) AND ${unconfirmedSql}`;

/** Returns the number of deleted entries. @param days 0 deletes none. */
export async function purgeUnconfirmed(client: Pick<JobHelpers, "query">, days: number): Promise<number> {
  if (days === 0) return 0;
  let deleted = 0;
  for (;;) {
    const { rowCount } = await client.query(deleteSql, [days]);
    if (!rowCount) return deleted;
    deleted += rowCount;
  }
}

export async function countUnconfirmed(client: pg.Client, days: number): Promise<number> {
  const { rows } = await client.query(
    `SELECT count(*)::int AS entries FROM public.earlyaccess AS entry WHERE ${unconfirmedSql}`,
    [days],
  );
  return rows[0].entries as number;
}
