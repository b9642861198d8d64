// The task mail: the confirmation mail of an entry, at most one a day to an address.
import type { JobHelpers, Task } from "graphile-worker";
import { hashAddress } from "../database/erasures.ts";
import { createToken } from "../models/token.ts";
import { isFlagged, normaliseAddress } from "../models/waitlist-entry.ts";
import { renderConfirmationMail, type MailedSite } from "../views/confirmation-mail.tsx";
import { MailError, sendMail, type MailMessage } from "./mail-server.ts";
import { retryAfterOutage, type Work } from "./outage.ts";

export interface MailSettings {
  /** Of the mail server. */
  url: string;
  from: { name: string; address: string };
  /** Of the hashes of erased addresses. */
  key: string;
  site: MailedSite;
}

interface Payload {
  entry: string;
  /** How often the mail was postponed because an earlier one may have arrived. */
  postponed?: number;
}

/** If the outcome stays unknown, the worker gives up after three mails, a day apart. */
const maxPostponements = 2;

export function mailTask(settings: MailSettings): Task {
  const server = { url: settings.url, client: new URL(settings.site.origin).hostname };
  const mail: Work = async (payload, helpers) => {
    const { entry: id, postponed = 0 } = payload as Payload;
    const entry = await readEntry(id, helpers);
    if (!entry) return false;
    // A compromised web process could store spellings such as "ada@example.com ", and mail one person several times a day.
    if (normaliseAddress(entry.email) !== entry.email) {
      helpers.logger.warn(`no mail to entry ${id}: its address is not as a sign-up stores it`);
      return false;
    }
    const hash = hashAddress(entry.email, settings.key);
    const until = await findEarliestTime(entry, hash, helpers);
    if (until) {
      const payloadThen: Payload = { entry: id, postponed: postponed + (entry.mailed_at ? 1 : 0) };
      if (postponed < maxPostponements)
        await helpers.addJob("mail", payloadThen, { runAt: until, jobKey: `mail ${id}` });
      return false;
    }
    const { token, hash: tokenHash } = createToken();
    const message = composeMessage(settings, entry.email, token);
    if (!(await markAsMailed(id, tokenHash, hash, helpers))) return false;
    try {
      await sendMail(server, message, helpers.abortSignal);
    } catch (error) {
      if (!(error instanceof MailError) || error.fault === "unknown") throw error;
      await unmark(id, error, helpers);
      if (error.fault !== "refused") throw error;
      helpers.logger.warn(error.message);
    }
    return true;
  };
  return retryAfterOutage("mail", mail, (error) => !(error instanceof MailError && error.fault === "deferred"));
}

interface MailedEntry {
  email: string;
  mailed_at: Date | null;
}

/** Returns undefined if the address was a duplicate, or the entry is flagged, confirmed, refused, or erased by now. */
async function readEntry(id: string, helpers: JobHelpers): Promise<MailedEntry | undefined> {
  const { rows } = await helpers.query<MailedEntry>(
    `SELECT email, mailed_at FROM public.earlyaccess
     WHERE id = $1 AND NOT ${isFlagged} AND confirmed_at IS NULL AND mail_refusal IS NULL`,
    [id],
  );
  return rows[0];
}

/** Returns the time at which a day has passed since the latest mail, or since the address left; undefined if it has. */
async function findEarliestTime(
  { mailed_at }: MailedEntry,
  hash: Buffer,
  helpers: JobHelpers,
): Promise<Date | undefined> {
  const { rows } = await helpers.query<{ until: Date }>(
    `SELECT until FROM (SELECT greatest($1::timestamptz, max(erased_at)) + interval '1 day' AS until
                        FROM earlyaccess_erasures.addresses WHERE hash = $2) AS wait
     WHERE until > CURRENT_TIMESTAMP`,
    [mailed_at, hash],
  );
  return rows[0]?.until;
}

/** Returns false if the entry is erased, or another job for it has begun. From now on, a crash leaves the outcome unknown. */
async function markAsMailed(id: string, tokenHash: string, hash: Buffer, helpers: JobHelpers): Promise<boolean> {
  const { rowCount } = await helpers.query(
    `UPDATE public.earlyaccess SET token_hash = $2, erasure_hash = $3, mailed_at = CURRENT_TIMESTAMP
     WHERE id = $1 AND (mailed_at IS NULL OR mailed_at <= CURRENT_TIMESTAMP - interval '1 day')`,
    [id, tokenHash, hash],
  );
  return rowCount === 1;
}

/** Records that no mail was sent, and the refusal if it is permanent. */
async function unmark(id: string, { fault, code }: MailError, helpers: JobHelpers): Promise<void> {
  await helpers.query("UPDATE public.earlyaccess SET mailed_at = NULL, mail_refusal = $2 WHERE id = $1", [
    id,
    fault === "refused" ? code : null,
  ]);
}

function composeMessage({ from, site }: MailSettings, email: string, token: string): MailMessage {
  const { leaveUrl, ...content } = renderConfirmationMail(site, token);
  const headers = {
    "List-Unsubscribe": `<${leaveUrl}>`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "Auto-Submitted": "auto-generated",
  };
  return { from, to: { name: "", address: email }, ...content, headers };
}
