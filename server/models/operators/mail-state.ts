// Where the confirmation mail of an entry is, as doctor, retry, show and import --own read it.
import type pg from "pg";
import { waitsForConfirmations } from "./confirmation-pace.ts";

export interface MailState {
  state: "refused" | "given up" | "mailed" | "queued" | "missing" | "none";
  /** When the job that waits runs next. */
  next: string | null;
  /** The latest error of the job. */
  error: string | null;
}

/** For a role that may not read the queue. */
const noJobsSql =
  "(SELECT '' AS key, 0 AS attempts, 0 AS max_attempts, CURRENT_TIMESTAMP AS run_at, '' AS last_error WHERE false)";

/**
 * An SQL query for the state of each entry's mail; the first that holds counts. No view: a dump of `public` must restore without the
 * queue's schema.
 * - refused: the mail server refused the address.
 * - given up: the mail was tried 25 times in four days, and the entry may still get one.
 * - mailed: a mail was sent or is being sent; a job for the next one may wait.
 * - queued: no mail was sent yet, and there is a job for it.
 * - missing: a sign-up has neither a mail nor a job: the site sent no mails, the queue failed, or a restore lost the job.
 * - none: nobody asked for a mail, or nobody may get one: the entry is imported, flagged, confirmed, invited, joined or left.
 */
const statesSql = (jobsSql = "graphile_worker.jobs") => `SELECT entry.id, entry.created_at, last_error AS error,
    CASE WHEN attempts < max_attempts THEN to_json(run_at) END AS next,
    CASE WHEN mail_refusal IS NOT NULL THEN 'refused'
      WHEN attempts >= max_attempts AND "isMailable" THEN 'given up'
      WHEN mailed_at IS NOT NULL THEN 'mailed'
      WHEN key IS NOT NULL THEN 'queued'
      WHEN "isMailable" AND status = 'waiting' AND NOT imported THEN 'missing'
      ELSE 'none' END AS state
  FROM public.earlyaccess AS entry LEFT JOIN ${jobsSql} AS job ON key = 'mail ' || entry.id
  CROSS JOIN LATERAL (SELECT NOT suspected_spam AND confirmed_at IS NULL AND status NOT IN ('joined', 'left') AS "isMailable") AS asked`;

export async function findMailState(client: pg.Client, id: string, mayReadQueue: boolean): Promise<MailState> {
  const states = statesSql(mayReadQueue ? undefined : noJobsSql);
  const { rows } = await client.query<MailState>(`${states} WHERE entry.id = $1`, [id]);
  return rows[0] as MailState;
}

/** Sign-ups after the first mail that have none were stored while the queue failed, or a restore brought them back. */
const sinceFirstMailSql =
  "created_at > coalesce((SELECT min(mailed_at) FROM public.earlyaccess), (SELECT min(ts) FROM graphile_worker.migrations))";

/** Queues the mails that are missing, and returns their number. @param period an SQL condition on created_at. */
export async function queueMissingMails(client: pg.Client, period = sinceFirstMailSql): Promise<number> {
  // In short transactions: a repeated sign-up waits for its job for 250 ms at most, and is then stored without one.
  const statement = `SELECT count(public.earlyaccess_queue_mail(id))::int AS mails
    FROM (SELECT id FROM (${statesSql()}) AS entry WHERE state = 'missing' AND ${period} LIMIT 200) AS missing`;
  for (let queued = 0; ;) {
    const { mails } = (await client.query<{ mails: number }>(statement)).rows[0] ?? { mails: 0 };
    if (mails === 0) return queued;
    queued += mails;
  }
}

/**
 * Deletes the jobs of mails that were given up and replaced by a repeated sign-up, which would mail a second time, and makes the other
 * jobs that failed due now. Returns their number.
 */
export async function retryFailedJobs(client: pg.Client): Promise<number> {
  await client.query(
    `SELECT graphile_worker.complete_jobs(array_agg(id)) FROM graphile_worker.jobs
     WHERE task_identifier = 'mail' AND key IS NULL AND attempts >= max_attempts`,
  );
  const { rowCount } = await client.query(
    `SELECT graphile_worker.reschedule_jobs(array_agg(id), run_at => now(), attempts => 0) FROM graphile_worker.jobs
     WHERE task_identifier IN ('mail', 'webhook') AND last_error IS NOT NULL`,
  );
  return rowCount ?? 0;
}

export async function countMails(client: pg.Client) {
  const { rows } = await client.query(
    `SELECT count(*) FILTER (WHERE state = 'mailed')::int AS mailed, count(*) FILTER (WHERE state = 'queued')::int AS queued,
       count(*) FILTER (WHERE state = 'given up')::int AS "givenUp", count(*) FILTER (WHERE state = 'refused')::int AS refused,
       count(*) FILTER (WHERE state = 'missing' AND ${sinceFirstMailSql})::int AS missing
     FROM (${statesSql()}) AS entry`,
  );
  return rows[0] as Record<"mailed" | "queued" | "givenUp" | "refused" | "missing", number>;
}

interface MailFailures {
  /** Without the jobs that wait for confirmations of earlier mails. */
  failed: number;
  /** The most frequent one. */
  error: string | null;
  /** Whether the mail server accepts no mail: full mailboxes fail for days, while it accepts others. */
  isServerFailing: boolean;
  /** Whether a job is due for more than an hour. */
  isLate: boolean;
}

/** A job without its key was replaced by a repeated sign-up. The library changes no time of a job when it fails. */
export async function findMailFailures(client: pg.Client): Promise<MailFailures> {
  const { rows } = await client.query<MailFailures>(
    `WITH accepted AS (
       SELECT max(mailed_at) AS latest FROM public.earlyaccess AS entry
       -- A mail that is being sent has mailed_at, too.
       WHERE NOT EXISTS (SELECT FROM graphile_worker.jobs WHERE key = 'mail ' || entry.id AND locked_at IS NOT NULL)
     ), job AS (
       SELECT *, CASE WHEN last_error <> $1 THEN last_error END AS failure FROM graphile_worker.jobs
       WHERE task_identifier = 'mail' AND key IS NOT NULL
     )
     SELECT count(failure)::int AS failed, mode() WITHIN GROUP (ORDER BY failure) AS error,
       count(failure) FILTER (WHERE created_at > latest AND created_at < now() - interval '1 hour') >= 3
         OR (count(failure) > 0 AND latest IS NULL) AS "isServerFailing",
       coalesce(bool_or(attempts < max_attempts AND run_at < now() - interval '1 hour'), false) AS "isLate"
     FROM accepted LEFT JOIN job ON true GROUP BY latest`,
    [waitsForConfirmations],
  );
  return rows[0] as MailFailures;
}
