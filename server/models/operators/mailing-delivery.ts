// The delivery of mailings, as the worker asks and records it, all by Postgres' clock. A mail that may have been sent is never sent again.
import type pg from "pg";
import { daysWithoutMail } from "../../../client/shared/promised-times.ts";
import { homeSql } from "../../database/kept-schema.ts";

export type Queue = Pick<pg.Pool, "query">;

/** After so many mails whose fate is not known, or so long without an accepted one, a mailing stops. */
const [mostUnknown, longestFailure] = [3, "1 day"];

/** Before each further try of a mail that the server put off. Then it is given up. */
const pauses = ["5 minutes", "30 minutes", "2 hours", "6 hours", "12 hours", "24 hours", "48 hours"];

/** After a failure that is about no single mailbox. */
const rest = "10 minutes";

export interface DueMailing {
  name: string;
  text: string;
  /** Why the mailing stops instead, or null. */
  fault: string | null;
  /** Milliseconds until its next mail. */
  waitMs: number;
}

/** Returns the mailing that sends the next mail, or undefined if nobody is due. */
export async function findDueMailing(queue: Queue): Promise<DueMailing | undefined> {
  // A clock that was set back leaves times of the future behind. Postgres 14 to 16 cannot subtract from -infinity.
  const { rows } = await queue.query<DueMailing>(
    `SELECT mailing.name, text, ceil(extract(epoch FROM next - CURRENT_TIMESTAMP) * 1000)::int AS "waitMs",
       CASE WHEN ${mostUnknown} <= (SELECT count(*) FROM earlyaccess_kept.mailing_recipients AS tried
           WHERE tried.name = mailing.name AND outcome = 'unknown' AND tried_at <= CURRENT_TIMESTAMP
             AND tried_at > CASE WHEN active_at <= CURRENT_TIMESTAMP THEN active_at ELSE '-infinity' END)
         THEN 'whether ${mostUnknown} mails arrived is not known'
         WHEN failing_since < CURRENT_TIMESTAMP - interval '${longestFailure}'
         THEN coalesce(reason, 'no mail was accepted for a day') END AS fault
     FROM earlyaccess_kept.mailings AS mailing
     CROSS JOIN LATERAL (
       SELECT CASE WHEN next_at BETWEEN CURRENT_TIMESTAMP AND CURRENT_TIMESTAMP + interval '1 hour' THEN next_at
         ELSE CURRENT_TIMESTAMP END AS next) AS pace
     CROSS JOIN LATERAL (
       SELECT FROM earlyaccess_kept.mailing_recipients AS waiting
       WHERE waiting.name = mailing.name AND outcome IS NULL AND due_at <= CURRENT_TIMESTAMP
       ORDER BY (tries = 0), tried_at NULLS FIRST, place LIMIT 1) AS due
     WHERE active_at IS NOT NULL AND home = ${homeSql}
     ORDER BY next, created_at, mailing.name LIMIT 1`,
  );
  return rows[0];
}

export async function stopMailing(queue: Queue, name: string, reason: string): Promise<void> {
  await queue.query(
    "UPDATE earlyaccess_kept.mailings SET active_at = NULL, reason = $2 WHERE name = $1 AND active_at IS NOT NULL",
    [name, reason],
  );
}

export interface Claim {
  name: string;
  entryId: string;
  tokenHash: string;
}

/**
 * Takes the next person: the mail is unknown before it is sent, so that no crash sends it twice. Returns undefined if another worker or
 * a command was first, and no address if the person may get no mail.
 */
export async function claimRecipient(queue: Queue, { name, text }: DueMailing, tokenHash: string) {
  const { rows } = await queue.query<{ entryId: string; email: string | null; tries: number }>(
    `WITH mailing AS MATERIALIZED (
       SELECT name FROM earlyaccess_kept.mailings
       WHERE name = $1 AND text = $2 AND active_at IS NOT NULL AND home = ${homeSql}
         AND (next_at <= CURRENT_TIMESTAMP OR next_at > CURRENT_TIMESTAMP + interval '1 hour')
       FOR UPDATE SKIP LOCKED
     ), next AS MATERIALIZED (
       SELECT entry_id FROM earlyaccess_kept.mailing_recipients
       WHERE name = (SELECT name FROM mailing) AND outcome IS NULL AND due_at <= CURRENT_TIMESTAMP
       ORDER BY (tries = 0), tried_at NULLS FIRST, place LIMIT 1
     ), person AS MATERIALIZED (
       SELECT entry_id, (
         SELECT email FROM public.earlyaccess CROSS JOIN LATERAL earlyaccess_kept.erasure_of(email)
         WHERE id = entry_id AND status IN ('waiting', 'invited') AND NOT suspected_spam AND mail_refusal IS NULL
           AND coalesce(left_at <= CURRENT_TIMESTAMP - interval '${daysWithoutMail} days', true)) AS email
       FROM next
     ), claimed AS (
       UPDATE earlyaccess_kept.mailing_recipients AS recipient
       SET outcome = CASE WHEN email IS NULL THEN 'skipped' ELSE 'unknown' END, due_at = NULL, tried_at = CURRENT_TIMESTAMP,
         reply = NULL, token_hash = $3
       FROM person
       -- Asked here, too: another worker may have taken the person since this statement began.
       WHERE name = $1 AND recipient.entry_id = person.entry_id AND outcome IS NULL
       RETURNING recipient.entry_id, email, tries
     ), paced AS (
       -- Not next_at + …, which would catch up after a night.
       UPDATE earlyaccess_kept.mailings SET next_at = CURRENT_TIMESTAMP + interval '1 hour' / per_hour
       WHERE name = $1 AND EXISTS (SELECT FROM claimed WHERE email IS NOT NULL)
     )
     SELECT entry_id AS "entryId", email, tries FROM claimed`,
    [name, text, tokenHash],
  );
  return rows[0];
}

/** A mail that ends after the mailing was stopped starts nothing. */
export async function recordSent(queue: Queue, { name, entryId, tokenHash }: Claim): Promise<void> {
  await queue.query(
    `WITH recorded AS (
       UPDATE earlyaccess_kept.mailing_recipients SET outcome = 'sent'
       WHERE name = $1 AND entry_id = $2 AND token_hash = $3 RETURNING name)
     UPDATE earlyaccess_kept.mailings SET active_at = CURRENT_TIMESTAMP, failing_since = NULL, reason = NULL
     WHERE name = (SELECT name FROM recorded) AND active_at IS NOT NULL`,
    [name, entryId, tokenHash],
  );
}

/** @param outcome unknown, skipped, or the code with which the server refused the address. @param reply without addresses. */
export async function recordOutcome(queue: Queue, claim: Claim, outcome: string, reply?: string): Promise<void> {
  await queue.query(
    `UPDATE earlyaccess_kept.mailing_recipients SET outcome = $4, reply = left($5, 300)
     WHERE name = $1 AND entry_id = $2 AND token_hash = $3`,
    [claim.name, claim.entryId, claim.tokenHash, outcome, reply],
  );
}

/** The mail is due at once: nothing was said about the person. */
export async function putBack(queue: Queue, claim: Claim, reply: string): Promise<void> {
  await queue.query(
    `UPDATE earlyaccess_kept.mailing_recipients
     SET outcome = NULL, due_at = CURRENT_TIMESTAMP, token_hash = NULL, reply = left($4, 300)
     WHERE name = $1 AND entry_id = $2 AND token_hash = $3`,
    [claim.name, claim.entryId, claim.tokenHash, reply],
  );
}

/** The mail is due after a pause, or given up after the last one. */
export async function putOff(queue: Queue, claim: Claim, reply: string): Promise<void> {
  await queue.query(
    `UPDATE earlyaccess_kept.mailing_recipients
     SET outcome = CASE WHEN tries >= cardinality($5::interval[]) THEN 'given up' END,
       due_at = CURRENT_TIMESTAMP + ($5::interval[])[tries + 1], tries = tries + 1, token_hash = NULL, reply = left($4, 300)
     WHERE name = $1 AND entry_id = $2 AND token_hash = $3`,
    [claim.name, claim.entryId, claim.tokenHash, reply, pauses],
  );
}

/** Lets the mailing rest after a failure that is about no single mailbox. @param reason which settings are missing. */
export async function restMailing(queue: Queue, name: string, reason?: string): Promise<void> {
  await queue.query(
    `UPDATE earlyaccess_kept.mailings SET next_at = CURRENT_TIMESTAMP + interval '${rest}',
       failing_since = least(failing_since, CURRENT_TIMESTAMP), reason = left($2, 300)
     WHERE name = $1 AND active_at IS NOT NULL`,
    [name, reason],
  );
}
