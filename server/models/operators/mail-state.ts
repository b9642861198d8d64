// Where the confirmation mail of an entry is, as doctor, retry, show and import --own read it.
import type pg from "pg";
import { mailableSql, refusedSql } from "./mails.ts";

/** An SQL condition: the sign-up gets a webhook and a mail, if the site sends them. */
const isAnnouncedSql = `NOT (imported OR suspected_spam)`;

/** An SQL condition on `entry`: its job waits, runs, or failed for the last time. */
const hasJobSql = "EXISTS (SELECT FROM graphile_worker.jobs WHERE key = 'mail ' || entry.id)";

/**
 * An SQL expression on `entry`; the first state that holds counts. No view: a dump of `public` must restore without the queue's schema.
 * - refused: the mail server refused the address.
 * - given up: the mail server took no mail for four days, or refused it for another reason, and the entry may still get one.
 * - mailed: a mail was sent or is being sent; a job for the next one may wait.
 * - queued: no mail was sent yet, and there is a job for it.
 * - missing: a sign-up has neither a mail nor a job: the site sent no mails, the queue failed, or a restore lost the job.
 * - none: nobody asked for a mail, or nobody may get one: the entry is imported, flagged, invited, joined or left.
 * @param jobSql false for a role that may not read the queue.
 */
const mailStateSql = (jobSql = hasJobSql) => `CASE
  WHEN ${refusedSql} THEN 'refused'
  WHEN mail_refusal IS NOT NULL AND ${mailableSql} THEN 'given up'
  WHEN mailed_at IS NOT NULL THEN 'mailed'
  WHEN ${jobSql} THEN 'queued'
  WHEN status = 'waiting' AND ${isAnnouncedSql} THEN 'missing'
  ELSE 'none' END`;

export async function findMailState(client: pg.Client, id: string, mayReadQueue: boolean): Promise<string | undefined> {
  const state = mailStateSql(mayReadQueue ? hasJobSql : "false");
  const { rows } = await client.query(`SELECT ${state} AS state FROM public.earlyaccess AS entry WHERE id = $1`, [id]);
  return rows[0]?.state as string | undefined;
}

/** Sign-ups after the first mail that have none were stored while the queue failed, or a restore brought them back. */
const sinceFirstMailSql =
  "created_at > coalesce((SELECT min(mailed_at) FROM public.earlyaccess), (SELECT min(ts) FROM graphile_worker.migrations))";

/** An SQL query for the entries that retry mails, with their states. @param period an SQL condition on created_at. */
const unsentSql = (period = sinceFirstMailSql) => `SELECT id, state, mail_refusal, created_at
  FROM (SELECT *, ${mailStateSql()} AS state FROM public.earlyaccess AS entry) AS stated
  WHERE state = 'given up' OR (state = 'missing' AND ${period})`;

/** Queues the mails that were given up or are missing, and returns their number. @param period an SQL condition on created_at. */
export async function queueUnsentMails(client: pg.Client, period?: string): Promise<number> {
  // In short transactions: a sign-up of an address whose entry one holds gets 503.
  const statement = `WITH unsent AS (
      UPDATE public.earlyaccess SET mail_refusal = NULL
      WHERE id = ANY (ARRAY(SELECT id FROM (${unsentSql(period)}) AS stated LIMIT 200)) RETURNING id)
    SELECT count(public.earlyaccess_queue_mail(id))::int AS mails FROM unsent`;
  for (let queued = 0; ;) {
    const { mails } = (await client.query<{ mails: number }>(statement)).rows[0] ?? { mails: 0 };
    if (mails === 0) return queued;
    queued += mails;
  }
}

/** Returns an SQL expression: one per cent, rounded down, of the sign-ups of these days that get a webhook and a mail. */
export const hundredthSql = (days: number) =>
  `(SELECT count(*)::int / 100 FROM public.earlyaccess WHERE created_at > now() - interval '${days} days' AND ${isAnnouncedSql})`;

/** Counts the unsent mails. The refusal is the most frequent one; many are more than 1 % of the sign-ups of 14 days. */
export async function countUnsentMails(client: pg.Client) {
  const { rows } = await client.query(
    `SELECT count(*) FILTER (WHERE state = 'given up')::int AS "givenUp",
       count(*) FILTER (WHERE state = 'given up' AND created_at > now() - interval '14 days') > ${hundredthSql(14)} AS "areMany",
       mode() WITHIN GROUP (ORDER BY mail_refusal) AS refusal,
       count(*) FILTER (WHERE state = 'missing')::int AS missing
     FROM (${unsentSql()}) AS unsent`,
  );
  return rows[0] as { givenUp: number; areMany: boolean; refusal: string | null; missing: number };
}
