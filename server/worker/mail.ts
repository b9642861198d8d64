// The task mail: the confirmation mail of an entry (double opt-in), at most one a day to an address and three in all.
import type { JobHelpers, Task, TaskSpec } from "graphile-worker";
import type { Config } from "../config/settings.ts";
import * as mails from "../models/list/mails.ts";
import { createToken } from "../models/entry-tokens.ts";
import { hashEmail } from "../database/erasure-key.ts";
import { normaliseEmail } from "../models/waitlist-entry.ts";
import { renderConfirmationMail, type MailedSite } from "../views/confirmation-mail.tsx";
import type { MailAttempts } from "./mail-attempts.ts";
import { MailError, mailServerError, sendMail } from "./mail-server.ts";

interface MailSettings {
  url: string;
  from: { name: string; address: string };
  key: string;
  minConfirmed: number;
  site: MailedSite;
}

/** How long the worker tries a mail that the server does not accept. */
const patienceMs = 4 * 86_400_000;

/** The job names the entry, never its address. graphile-worker logs and stores the error's message. */
export function mailTask(settings: MailSettings, attempts: MailAttempts): Task {
  const server = { url: settings.url, client: new URL(settings.site.origin).hostname };
  const requireRoom = mails.createMailPace(settings.minConfirmed);
  return async (payload, helpers) => {
    const { entry: id, passed } = payload as { entry: string; passed?: true };
    // Ask the pace once, before the entry is read: which jobs count must not depend on whether the address is on the list.
    if (!passed && !helpers.job.last_error?.startsWith(mailServerError)) await requireRoom(helpers);
    const entry = await mails.findEntryToMail(helpers, id);
    if (!entry) return;
    // A compromised web process could store spellings such as "ada@example.com ", and mail one person several times a day.
    if (normaliseEmail(entry.email) !== entry.email) {
      helpers.logger.warn(`no mail to entry ${id}: its address is not as a sign-up stores it`);
      return;
    }
    const hash = hashEmail(entry.email, settings.key);
    const runAt = await mails.findNextMailTime(helpers, entry, hash);
    if (runAt) {
      await queueAgain(helpers, id, { runAt });
      return;
    }
    const failure = attempts.begin();
    if (failure) {
      await mails.waitForMailServer(helpers, 0);
      throw failure;
    }
    const token = createToken();
    if (!(await mails.claimMail(helpers, entry, token.hash, hash))) return;
    try {
      await sendMail(server, composeMessage(settings, entry.email, token.token));
      attempts.succeed();
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      const release = (refusal: string | undefined) => mails.releaseMail(helpers, entry, token.hash, refusal);
      await handleFailure(helpers, attempts, id, error, release);
    }
  };
}

/** A mail that the server refused goes to the end of those that wait. */
const waiting = { flags: [mails.waitingFlag], priority: 1 };

const queueAgain = (helpers: JobHelpers, id: string, spec: TaskSpec) =>
  helpers.addJob("mail", { entry: id, passed: true }, { ...spec, jobKey: `mail ${id}` });

/** @param release undoes the claim, and records a refusal. @throws the error if the mail is tried again. */
async function handleFailure(
  helpers: JobHelpers,
  attempts: MailAttempts,
  id: string,
  error: MailError,
  release: (refusal: string | undefined) => Promise<void>,
): Promise<void> {
  let { refusal } = error;
  const refused = attempts.fail(id, error);
  if (error.mayHaveArrived) throw error;
  if (refused) {
    const { flags, created_at: since } = helpers.job;
    refusal = flags && Date.now() - since.getTime() > patienceMs ? error.code.slice(0, 20) : undefined;
    for (const other of await mails.takeBackRefusals(helpers, refused)) await queueAgain(helpers, other, waiting);
  }
  await release(refusal);
  if (!refusal) {
    await mails.waitForMailServer(helpers, waiting.priority);
    throw error;
  }
  helpers.logger.warn(error.message);
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
