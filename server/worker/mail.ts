// The task mail: the confirmation mail of an entry (double opt-in), at most one a day to an address and three in all.
import type { Task } from "graphile-worker";
import type { Config } from "../config/settings.ts";
import { claimMail, createMailPace, findEntryToMail, findNextMailTime, releaseMail } from "../models/list/mails.ts";
import { createToken } from "../models/entry-tokens.ts";
import { hashEmail } from "../database/erasure-key.ts";
import { normaliseEmail } from "../models/waitlist-entry.ts";
import { renderConfirmationMail, type MailedSite } from "../views/confirmation-mail.tsx";
import { MailError, mailServerError, sendMail } from "./mail-server.ts";

interface MailSettings {
  url: string;
  from: { name: string; address: string };
  key: string;
  minConfirmed: number;
  site: MailedSite;
}

/**
 * The job names the entry, never its address. graphile-worker retries a job 25 times in about four days, at last every 6 h;
 * it logs and stores the error's message.
 */
export function mailTask(settings: MailSettings): Task {
  const server = { url: settings.url, client: new URL(settings.site.origin).hostname };
  const requireRoom = createMailPace(settings.minConfirmed);
  return async (payload, helpers) => {
    const { entry: id, passed } = payload as { entry: string; passed?: true };
    // Ask the pace once, before the entry is read: which jobs count must not depend on whether the address is on the list.
    if (!passed && !helpers.job.last_error?.startsWith(mailServerError)) await requireRoom(helpers);
    const entry = await findEntryToMail(helpers, id);
    if (!entry) return;
    // A compromised web process could store spellings such as "ada@example.com ", and mail one person several times a day.
    if (normaliseEmail(entry.email) !== entry.email) {
      helpers.logger.warn(`no mail to entry ${entry.id}: its address is not as a sign-up stores it`);
      return;
    }
    const hash = hashEmail(entry.email, settings.key);
    const runAt = await findNextMailTime(helpers, entry, hash);
    if (runAt) {
      await helpers.addJob("mail", { entry: entry.id, passed: true }, { runAt, jobKey: `mail ${entry.id}` });
      return;
    }
    const token = createToken();
    if (!(await claimMail(helpers, entry, token.hash, hash))) return;
    try {
      await sendMail(server, composeMessage(settings, entry.email, token.token));
    } catch (error) {
      if (!(error instanceof MailError) || error.mayHaveArrived) throw error;
      await releaseMail(helpers, entry, token.hash, error.isRefusal ? error.code : null);
      if (!error.isRefusal) throw error;
      helpers.logger.warn(error.message);
    }
  };
}

export function mailedSite(config: Config): MailedSite {
  const { PUBLIC_URL: origin = "", CONTROLLER: controller, CONTACT_EMAIL: contact } = config;
  return { origin, controller, contact, retentionMonths: config.RETENTION_MONTHS };
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
