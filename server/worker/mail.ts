// The task mail: the confirmation mail of an entry (double opt-in), at most one a day to an address and three in all.
import type { JobHelpers, Task } from "graphile-worker";
import { hashAddress } from "../database/erasure-key.ts";
import { createToken } from "../models/entry-links.ts";
import { requireConfirmations } from "../models/mail-pace.ts";
import { isFlagged, normaliseAddress } from "../models/waitlist-entry.ts";
import { renderConfirmationMail, type MailedSite } from "../views/confirmation-mail.tsx";
import { MailError, sendMail } from "./mail-server.ts";
import type { CountMail } from "./metrics.ts";

export interface MailSettings {
  /** URL of the SMTP server. */
  url: string;
  from: { name: string; address: string };
  /** HMAC key of erased addresses. */
  key: string;
  /** MAIL_MIN_CONFIRMED. */
  minConfirmed: number;
  site: MailedSite;
  onMail?: CountMail | undefined;
}

interface Entry {
  id: string;
  email: string;
  mailed_at: Date | null;
}

/**
 * The job names the entry, never its address. graphile-worker retries a job 25 times in about four days, at last every 6 h;
 * it logs and stores the error's message.
 */
export function mailTask(settings: MailSettings): Task {
  const server = { url: settings.url, client: new URL(settings.site.origin).hostname };
  return async (payload, helpers) => {
    const entry = await readEntry((payload as { entry: string }).entry, helpers);
    if (!entry) return;
    // A compromised web process could store spellings such as "ada@example.com ", and mail one person several times a day.
    if (normaliseAddress(entry.email) !== entry.email) {
      helpers.logger.warn(`no mail to entry ${entry.id}: its address is not as a sign-up stores it`);
      return;
    }
    const hash = hashAddress(entry.email, settings.key);
    const runAt = await findEarliestTime(entry, hash, helpers);
    if (runAt) {
      await helpers.addJob("mail", { entry: entry.id }, { runAt, jobKey: `mail ${entry.id}` });
      return;
    }
    await requireConfirmations(helpers, settings.minConfirmed);
    const token = createToken();
    if (!(await claim(entry, token.hash, hash, helpers))) return;
    try {
      await sendMail(server, composeMessage(settings, entry.email, token.token));
      settings.onMail?.("sent");
    } catch (error) {
      if (!(error instanceof MailError) || error.mayHaveArrived) throw error;
      await release(entry, token.hash, error, helpers);
      if (!error.isRefusal) throw error;
      settings.onMail?.("refused");
      helpers.logger.warn(error.message);
    }
  };
}

/** Returns undefined if the entry is erased, flagged, confirmed or refused, or had three mails. */
async function readEntry(id: string, helpers: JobHelpers): Promise<Entry | undefined> {
  const { rows } = await helpers.query<Entry>(
    `SELECT id, email, mailed_at FROM public.earlyaccess
     WHERE id = $1 AND NOT ${isFlagged} AND confirmed_at IS NULL AND mail_refusal IS NULL
       AND coalesce(cardinality(mail_tokens), 0) < 3`,
    [id],
  );
  return rows[0];
}

/** Returns the time a day after the latest mail or erasure, and 30 days after the address left; undefined if it has passed. */
async function findEarliestTime({ mailed_at }: Entry, hash: Buffer, helpers: JobHelpers): Promise<Date | undefined> {
  const { rows } = await helpers.query<{ until: Date }>(
    `SELECT until FROM (SELECT greatest($1::timestamptz + interval '1 day', max(erased_at) + interval '1 day',
                                        max(left_at) + interval '30 days') AS until
                        FROM earlyaccess_erasures.addresses WHERE hash = $2) AS wait
     WHERE until > CURRENT_TIMESTAMP`,
    [mailed_at, hash],
  );
  return rows[0]?.until;
}

/**
 * Stores the token's hash and counts the mail before it is sent, so that a crash cannot exceed the limits: the job then waits for
 * the next day. Returns false if the entry is erased, or another job for it was first.
 */
async function claim({ id }: Entry, tokenHash: string, hash: Buffer, helpers: JobHelpers): Promise<boolean> {
  const { rowCount } = await helpers.query(
    `UPDATE public.earlyaccess
     SET mail_tokens = array_append(mail_tokens, $2), erasure_hash = $3, mailed_at = CURRENT_TIMESTAMP
     WHERE id = $1 AND (mailed_at IS NULL OR mailed_at <= CURRENT_TIMESTAMP - interval '1 day')`,
    [id, tokenHash, hash],
  );
  return rowCount === 1;
}

/** Records that the mail was not sent, and the refusal if it is permanent. */
async function release(
  { id, mailed_at }: Entry,
  tokenHash: string,
  { code, isRefusal }: MailError,
  helpers: JobHelpers,
): Promise<void> {
  await helpers.query(
    `UPDATE public.earlyaccess SET mail_tokens = array_remove(mail_tokens, $2), mailed_at = $3, mail_refusal = $4
     WHERE id = $1`,
    [id, tokenHash, mailed_at, isRefusal ? code : null],
  );
}

export function composeMessage({ from, site }: Pick<MailSettings, "from" | "site">, email: string, token: string) {
  const { leaveUrl, ...content } = renderConfirmationMail(site, token);
  const headers = {
    "List-Unsubscribe": `<${leaveUrl}>`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "Auto-Submitted": "auto-generated",
  };
  return { from, to: { name: "", address: email }, ...content, headers };
}
