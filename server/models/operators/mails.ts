// Confirmation mails: who gets one and when, and what is stored about it. How many a day: confirmation-pace.ts. Which are missing: mail-state.ts.
import type { JobHelpers } from "graphile-worker";
import { daysWithoutMail } from "../../../client/shared/promised-times.ts";

type Queue = Pick<JobHelpers, "query">;

/**
 * Replies with an enhanced code that is about the address. Not 5.2.0 and 5.2.2: Exchange also sends them if the sender is blocked or has
 * used up its quota.
 */
const codesOfAddress = /^5\d\d 5\.(1\.([1236]|10)|2\.1)$/;

/** Returns whether the refusal has an enhanced code that is about the address. */
export const namesAddress = (refusal = "") => codesOfAddress.test(refusal);

/** Returns whether mail_refusal may hold it: an operator's mark, or a refusal, which without an enhanced code is that of the last attempt. */
export const isOfAddress = (refusal: string) =>
  namesAddress(refusal) || /^(?:55[013] to RCPT TO|bounced)$/.test(refusal);

interface EntryToMail {
  id: string;
  email: string;
  mailed_at: Date | null;
}

/** Returns undefined if the entry is erased, flagged or confirmed, its address was refused, it had three mails, or its person joined or left. */
export async function findEntryToMail(queue: Queue, id: string): Promise<EntryToMail | undefined> {
  const { rows } = await queue.query<EntryToMail>(
    `SELECT id, email, mailed_at FROM public.earlyaccess
     WHERE id = $1 AND NOT suspected_spam AND confirmed_at IS NULL AND status NOT IN ('joined', 'left')
       AND mail_refusal IS NULL AND coalesce(cardinality(mail_tokens), 0) < 3`,
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
     SET mail_tokens = array_append(mail_tokens, $2), mailed_at = CURRENT_TIMESTAMP
     WHERE id = $1 AND (mailed_at IS NULL OR mailed_at <= CURRENT_TIMESTAMP - interval '1 day')
       AND mail_refusal IS NULL`,
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
    `UPDATE public.earlyaccess
     SET mail_tokens = array_remove(mail_tokens, $2), mailed_at = $3, mail_refusal = coalesce(mail_refusal, $4)
     WHERE id = $1`,
    [id, tokenHash, mailed_at, refusal],
  );
}
