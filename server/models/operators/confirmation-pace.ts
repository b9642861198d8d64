// The pace of confirmation mails: at most 600 a day while few people confirm theirs.
import type { JobHelpers } from "graphile-worker";
import type pg from "pg";

type Queue = Pick<JobHelpers, "query">;

/** In 24 hours: jobs without any confirmation, and further ones for each confirmed mail. */
const [unconfirmed, forEachConfirmed] = [600, 5];

const dayAgoSql = "CURRENT_TIMESTAMP - interval '24 hours'";

/** An SQL condition: a job may pass. */
const underPaceSql = `(SELECT coalesce(sum(jobs), 0) FROM public.earlyaccess_mail_passes WHERE minute > ${dayAgoSql})
  < ${unconfirmed} + ${forEachConfirmed} * (SELECT count(*) FROM public.earlyaccess WHERE confirmed_at > ${dayAgoSql})`;

/** One transaction, so that concurrent jobs check and count one after the other. */
const passSql = `LOCK TABLE public.earlyaccess_mail_passes IN SHARE ROW EXCLUSIVE MODE;
  -- A clock that was set back leaves minutes of the future behind.
  DELETE FROM public.earlyaccess_mail_passes WHERE minute NOT BETWEEN ${dayAgoSql} AND CURRENT_TIMESTAMP + interval '1 hour';
  INSERT INTO public.earlyaccess_mail_passes AS counted (minute)
  SELECT date_trunc('minute', CURRENT_TIMESTAMP) WHERE ${underPaceSql}
  ON CONFLICT ON CONSTRAINT earlyaccess_mail_passes_pkey DO UPDATE SET jobs = counted.jobs + 1`;

export const waitsForConfirmations = "The mail waits for confirmations of earlier ones";

/** Lets a job pass, and counts it. @throws an error, so that the queue retries the job, if the pace allows no mail now. */
export async function requireRoom(queue: Queue): Promise<void> {
  const results: unknown = await queue.query(passSql);
  if ((results as { rowCount: number }[]).at(-1)?.rowCount !== 1) throw new Error(waitsForConfirmations);
}

/**
 * An SQL query for the latest mails, at most 100, that are older than two hours, and how many of them were confirmed. Where entries
 * that nobody confirms are deleted after the days of the first parameter, it leaves out the mails of earlier days: each that is
 * still there was confirmed.
 */
const latestMailsSql = `SELECT count(*)::int AS mails, count(confirmed_at)::int AS confirmed FROM (
  SELECT confirmed_at FROM public.earlyaccess WHERE mailed_at < CURRENT_TIMESTAMP - interval '2 hours'
    AND ($1::int = 0 OR mailed_at > CURRENT_TIMESTAMP - make_interval(days => $1::int))
  ORDER BY mailed_at DESC LIMIT 100) AS latest`;

/** `waiting` are the jobs that wait or were given up for the pace. @param unconfirmedDays UNCONFIRMED_DAYS. */
export async function readConfirmationPace(client: pg.Client, unconfirmedDays: number) {
  const { rows } = await client.query(
    `SELECT *, NOT ${underPaceSql} AS "isReached",
       (SELECT count(*)::int FROM graphile_worker.jobs WHERE key IS NOT NULL AND last_error = $2) AS waiting
     FROM (${latestMailsSql}) AS latest`,
    [unconfirmedDays, waitsForConfirmations],
  );
  return rows[0] as { mails: number; confirmed: number; isReached: boolean; waiting: number };
}
