// Entries with a job in the queue: what the tasks mail and webhook read of them, the state of a mail, and how long jobs wait.
import type { JobHelpers } from "graphile-worker";
import { sourceColumns } from "../database/columns.ts";
import type { Source } from "./source.ts";
import { isFlagged } from "./waitlist-entry.ts";

type Queue = Pick<JobHelpers, "query">;

/** Nothing about the person: data that has left the database cannot be erased. */
export interface NotifiedEntry extends Source {
  id: string;
  company: string;
  created_at: Date;
}

const notifiedColumns = ["id", "company", "created_at", ...sourceColumns].join(", ");

/** Returns undefined if the address was a duplicate, or the entry is erased. */
export async function findNotifiedEntry(queue: Queue, id: string): Promise<NotifiedEntry | undefined> {
  const { rows } = await queue.query<NotifiedEntry>(`SELECT ${notifiedColumns} FROM public.earlyaccess WHERE id = $1`, [
    id,
  ]);
  return rows[0];
}

interface EntryToMail {
  id: string;
  email: string;
  mailed_at: Date | null;
}

/** Returns undefined if the entry is erased, flagged, confirmed or refused, had three mails, or its person joined or left. */
export async function findEntryToMail(queue: Queue, id: string): Promise<EntryToMail | undefined> {
  const { rows } = await queue.query<EntryToMail>(
    `SELECT id, email, mailed_at FROM public.earlyaccess
     WHERE id = $1 AND NOT ${isFlagged} AND confirmed_at IS NULL AND mail_refusal IS NULL AND status NOT IN ('joined', 'left')
       AND coalesce(cardinality(mail_tokens), 0) < 3`,
    [id],
  );
  return rows[0];
}

/**
 * Returns the time a day after the latest mail or erasure, and 30 days after the address left; undefined if it has passed.
 * @param hash of the address, as the erased addresses have it.
 */
export async function findNextMailTime(queue: Queue, entry: EntryToMail, hash: Buffer): Promise<Date | undefined> {
  const { rows } = await queue.query<{ until: Date }>(
    `SELECT until FROM (SELECT greatest($1::timestamptz + interval '1 day', max(erased_at) + interval '1 day',
                                        max(left_at) + interval '30 days') AS until
                        FROM earlyaccess_erasures.addresses WHERE hash = $2) AS wait
     WHERE until > CURRENT_TIMESTAMP`,
    [entry.mailed_at, hash],
  );
  return rows[0]?.until;
}

/**
 * Stores the token's hash and counts the mail before it is sent, so that a crash cannot exceed the limits: the job then waits for
 * the next day. Returns false if the entry is erased, or another job for it was first.
 */
export async function claimMail(queue: Queue, { id }: EntryToMail, tokenHash: string, hash: Buffer): Promise<boolean> {
  const { rowCount } = await queue.query(
    `UPDATE public.earlyaccess
     SET mail_tokens = array_append(mail_tokens, $2), erasure_hash = $3, mailed_at = CURRENT_TIMESTAMP
     WHERE id = $1 AND (mailed_at IS NULL OR mailed_at <= CURRENT_TIMESTAMP - interval '1 day')`,
    [id, tokenHash, hash],
  );
  return rowCount === 1;
}

/** @param refusal the mail server's code if it is permanent. */
export async function releaseMail(
  queue: Queue,
  { id, mailed_at }: EntryToMail,
  tokenHash: string,
  refusal: string | null,
): Promise<void> {
  await queue.query(
    `UPDATE public.earlyaccess SET mail_tokens = array_remove(mail_tokens, $2), mailed_at = $3, mail_refusal = $4
     WHERE id = $1`,
    [id, tokenHash, mailed_at, refusal],
  );
}

/**
 * An SQL aggregate over jobs: for how many seconds they have waited. A mail may wait until the next day; it does so without an attempt.
 * Of the mails and webhooks that failed, the third oldest counts: one address whose mail server fails for days is no backlog.
 */
export const backlogSeconds = `greatest(0, extract(epoch FROM now() - least(
  min(CASE WHEN attempts = 0 THEN run_at ELSE created_at END) FILTER (WHERE attempts = 0 OR task_identifier = 'purge'),
  (array_agg(created_at ORDER BY created_at) FILTER (WHERE attempts > 0 AND attempts < max_attempts))[3])))::float`;
