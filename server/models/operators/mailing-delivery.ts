// The delivery of mailings: who is next, and what became of the mail. A mail that may have been sent is never sent again.
import type { JobHelpers } from "graphile-worker";
import { daysWithoutMail } from "../../../client/shared/promised-times.ts";
import { mayGetMailingSql } from "./mailing-recipients.ts";

type Queue = Pick<JobHelpers, "query">;

/** After so many mails without an answer, or so long without an accepted one, a mailing stops. */
const [mostUnanswered, longestPause] = [3, "1 day"];

/** A mail that the server put off is tried again after an hour. */
export const retryPause = "1 hour";

export interface NextMail {
  name: string;
  text: string;
  perHour: number;
  /** Why the mailing stops instead, or null. */
  fault: string | null;
  entryId: string;
  /** Null if the entry was erased. */
  email: string | null;
  /** When it was put off until, or null. */
  dueAt: Date | null;
}

/** Returns the next mail of the mailing that is under way, or undefined if there is none. Those who were put off come last. */
export async function findNextMail(queue: Queue): Promise<NextMail | undefined> {
  const { rows } = await queue.query<NextMail>(
    `SELECT mailing.name, text, per_hour AS "perHour", entry_id AS "entryId", email,
       CASE WHEN CURRENT_TIMESTAMP BETWEEN tried_at AND tried_at + interval '${retryPause}'
         THEN tried_at + interval '${retryPause}' END AS "dueAt",
       CASE WHEN active_at NOT BETWEEN CURRENT_TIMESTAMP - interval '${longestPause}' AND CURRENT_TIMESTAMP + interval '1 minute'
         THEN 'Nothing was sent for a day'
         WHEN ${mostUnanswered} <= (SELECT count(*) FROM earlyaccess_kept.mailing_recipients AS tried
           WHERE tried.name = mailing.name AND outcome = 'unknown' AND tried.tried_at > active_at)
         THEN '${mostUnanswered} mails got no answer' END AS fault
     FROM earlyaccess_kept.mailings AS mailing
     CROSS JOIN LATERAL (SELECT entry_id, tried_at FROM earlyaccess_kept.mailing_recipients AS recipient
       WHERE recipient.name = mailing.name AND outcome IS NULL ORDER BY tried_at NULLS FIRST, place LIMIT 1) AS next
     LEFT JOIN public.earlyaccess AS entry ON entry.id = entry_id
     WHERE active_at IS NOT NULL ORDER BY mailing.created_at, mailing.name LIMIT 1`,
  );
  return rows[0];
}

/** Stops the mailing. Its latest refusal says more than the fault. */
export async function stopAfterFault(queue: Queue, name: string, fault: string): Promise<void> {
  await queue.query(
    "UPDATE earlyaccess_kept.mailings SET active_at = NULL, reply = coalesce(reply, $2) WHERE name = $1 AND active_at IS NOT NULL",
    [name, fault],
  );
}

export interface Claim {
  name: string;
  entryId: string;
  tokenHash: string;
}

/**
 * Marks the mail as unknown before it is sent, so that a crash cannot send it twice. Returns false if somebody else sends it, or the
 * person left or may get none.
 */
export async function claimMail(queue: Queue, claim: Claim, email: string): Promise<boolean> {
  const { rowCount } = await queue.query(
    `UPDATE earlyaccess_kept.mailing_recipients AS recipient
     SET outcome = 'unknown', token_hash = $3, tried_at = CURRENT_TIMESTAMP
     FROM public.earlyaccess AS entry, earlyaccess_kept.erasure_of($4)
     WHERE recipient.name = $1 AND entry_id = $2 AND outcome IS NULL
       AND entry.id = $2 AND email = $4 AND ${mayGetMailingSql}
       AND coalesce(left_at <= CURRENT_TIMESTAMP - interval '${daysWithoutMail} days', true)`,
    [claim.name, claim.entryId, claim.tokenHash, email],
  );
  return rowCount === 1;
}

/** For somebody who got no mail: a later --send may add them again. */
export async function skipMail(queue: Queue, name: string, entryId: string): Promise<void> {
  await queue.query(
    `UPDATE earlyaccess_kept.mailing_recipients SET outcome = 'skipped', tried_at = CURRENT_TIMESTAMP
     WHERE name = $1 AND entry_id = $2 AND outcome IS NULL`,
    [name, entryId],
  );
}

/** Records what became of a mail that this attempt claimed. @param outcome null: it is tried again. */
async function recordOutcome(queue: Queue, { name, entryId, tokenHash }: Claim, outcome: string | null): Promise<void> {
  await queue.query(
    `UPDATE earlyaccess_kept.mailing_recipients
     SET outcome = $4::text, token_hash = CASE WHEN $4::text IS NOT NULL THEN token_hash END
     WHERE name = $1 AND entry_id = $2 AND token_hash = $3`,
    [name, entryId, tokenHash, outcome],
  );
}

/** In statements of their own: a command locks both tables in another order. A mail that ends after --stop starts nothing. */
export async function recordSent(queue: Queue, claim: Claim): Promise<void> {
  await recordOutcome(queue, claim, "sent");
  await queue.query(
    "UPDATE earlyaccess_kept.mailings SET active_at = CURRENT_TIMESTAMP, reply = NULL WHERE name = $1 AND active_at IS NOT NULL",
    [claim.name],
  );
}

/**
 * @param outcome the code with which the server refused the address, null if the mail is tried again, or undefined if it may have
 * arrived. @param reply without addresses.
 */
export async function recordFailure(queue: Queue, claim: Claim, outcome: string | null | undefined, reply: string) {
  if (outcome !== undefined) await recordOutcome(queue, claim, outcome);
  await queue.query("UPDATE earlyaccess_kept.mailings SET reply = left($2, 300) WHERE name = $1", [claim.name, reply]);
}
