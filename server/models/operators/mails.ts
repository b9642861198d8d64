// Confirmation mails: who gets one and when, and what is stored about it. How many in 24 hours: mail-pace.ts. Which are missing: mail-state.ts.
import type { JobHelpers } from "graphile-worker";
import { daysWithoutMail } from "../../../client/shared/promised-times.ts";

type Queue = Pick<JobHelpers, "query">;

/** The flag of a job that waits for the mail server. */
export const waitingFlag = "mail-server";

/** The flag of a job that waits until the mailbox takes mails. */
const mailboxFlag = "mailbox";

/**
 * Replies with an enhanced code that is about the address, as a regular expression of JavaScript and Postgres. Not 5.2.0 and 5.2.2:
 * Exchange also sends them if the sender is blocked or has used up its quota.
 */
export const codesOfAddress = String.raw`^5\d\d 5\.(1\.([1236]|10)|2\.1)$`;

/** The values of mail_refusal that are about the address, also an operator's. Another value is the latest reply to a mail that was given up. */
const refusalsOfAddress = String.raw`${codesOfAddress}|^55[013] to RCPT TO$|^bounced$`;

/** Returns whether the refusal has an enhanced code that is about the address. */
export const namesAddress = (refusal: string) => new RegExp(codesOfAddress).test(refusal);

export const isOfAddress = (refusal: string) => new RegExp(refusalsOfAddress).test(refusal);

/** An SQL condition: the mail server refused the address. */
export const refusedSql = `coalesce(mail_refusal ~ '${refusalsOfAddress}', false)`;

/** An SQL condition: the entry may get a mail. */
export const mailableSql = `NOT suspected_spam AND confirmed_at IS NULL AND status NOT IN ('joined', 'left')
  AND NOT ${refusedSql} AND coalesce(cardinality(mail_tokens), 0) < 3`;

interface EntryToMail {
  id: string;
  email: string;
  mailed_at: Date | null;
}

/** Returns undefined if the entry is erased, flagged, confirmed or has an address that was refused, had three mails, or its person joined or left. */
export async function findEntryToMail(queue: Queue, id: string): Promise<EntryToMail | undefined> {
  const { rows } = await queue.query<EntryToMail>(
    `SELECT id, email, mailed_at FROM public.earlyaccess
     WHERE id = $1 AND ${mailableSql}`,
    [id],
  );
  return rows[0];
}

/** Returns the next time for a mail: a day after the latest mail or erasure, and `daysWithoutMail` after the address left. Undefined means now. */
export async function findNextMailTime(queue: Queue, entry: EntryToMail): Promise<Date | undefined> {
  const { rows } = await queue.query<{ until: Date }>(
    `SELECT until FROM (SELECT greatest($1::timestamptz + interval '1 day', erased_at + interval '1 day',
                                        left_at + interval '${daysWithoutMail} days') AS until
                        FROM earlyaccess_kept.erasure_of($2)) AS wait
     WHERE until > CURRENT_TIMESTAMP`,
    [entry.mailed_at, entry.email],
  );
  return rows[0]?.until;
}

/**
 * Stores the token's hash and counts the mail before it is sent, so that a crash cannot exceed the limits: the job then waits for
 * the next day. Returns false if the entry is erased or was marked as bounced meanwhile, or another job for it was first.
 */
export async function claimMail(queue: Queue, { id }: EntryToMail, tokenHash: string): Promise<boolean> {
  const { rowCount } = await queue.query(
    `UPDATE public.earlyaccess
     SET mail_tokens = array_append(mail_tokens, $2), mailed_at = CURRENT_TIMESTAMP, mail_refusal = NULL
     WHERE id = $1 AND (mailed_at IS NULL OR mailed_at <= CURRENT_TIMESTAMP - interval '1 day') AND NOT ${refusedSql}`,
    [id, tokenHash],
  );
  return rowCount === 1;
}

/** Undoes claimMail if the mail is not sent, and keeps a mark that was set meanwhile. @param refusal undefined if the mail is tried again. */
export async function releaseMail(
  queue: Queue,
  { id, mailed_at }: EntryToMail,
  tokenHash: string,
  refusal: string | undefined,
): Promise<void> {
  await queue.query(
    `UPDATE public.earlyaccess SET mail_tokens = array_remove(mail_tokens, $2), mailed_at = $3, mail_refusal = coalesce(mail_refusal, $4)
     WHERE id = $1`,
    [id, tokenHash, mailed_at, refusal],
  );
}

/** Takes back the recorded refusals of the entries that have no enhanced code, and returns which had one. */
export async function takeBackRefusals(queue: Queue, ids: string[]): Promise<string[]> {
  const { rows } = await queue.query<{ id: string }>(
    "UPDATE public.earlyaccess SET mail_refusal = NULL WHERE id = ANY ($1) AND mail_refusal LIKE '% to RCPT TO' RETURNING id",
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** Lets the job wait for the mail server, behind those with a lower priority, in the order of their latest attempts. */
export const waitForMailServer = (queue: JobHelpers, priority: number): Promise<void> =>
  wait(queue, waitingFlag, "0", priority);

/** Lets the job wait for its mailbox, which no other mail does. */
export const waitForMailbox = (queue: JobHelpers): Promise<void> => wait(queue, mailboxFlag, "30 minutes");

/** created_at becomes the time of the first failure; attempts stays small, because it sets the delay that the queue adds. */
async function wait(queue: JobHelpers, flag: string, pause: string, priority = 0): Promise<void> {
  await queue.query(
    `UPDATE graphile_worker._private_jobs
     SET flags = jsonb_build_object($2::text, true), run_at = now() + $3::interval, priority = greatest(priority, $4), attempts = 1,
       updated_at = now(), created_at = CASE WHEN flags IS NULL THEN now() ELSE created_at END
     WHERE id = $1 AND attempts = $5`,
    [queue.job.id, flag, pause, priority, queue.job.attempts],
  );
}
