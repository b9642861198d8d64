// The task mail: the confirmation mail of an entry (double opt-in), at most one a day to an address and three in all.
import type { JobHelpers, Task, TaskSpec } from "graphile-worker";
import type { Config } from "../config/settings.ts";
import * as mails from "../models/operators/mails.ts";
import { requireRoom } from "../models/operators/mail-pace.ts";
import { createToken } from "../models/entry-tokens.ts";
import { normaliseEmail } from "../models/sign-up-rules.ts";
import { renderConfirmationMail, type MailedSite } from "../mail/confirmation-mail.ts";
import type { MailAttempts } from "./mail-attempts.ts";
import { MailError, mailServerError, sendMail } from "../mail/mail-server.ts";

interface Mailer {
  url: string;
  from: { name: string; address: string };
  site: MailedSite;
}

/** The job names the entry, never its address. graphile-worker logs and stores the error's message. */
export function mailTask(mailer: Mailer, attempts: MailAttempts): Task {
  return async (payload, helpers) => {
    const { entry: id, passed } = payload as { entry: string; passed?: true };
    // Ask the pace once, before the entry is read: which jobs count must not depend on whether the address is on the list.
    if (!passed && !helpers.job.last_error?.startsWith(mailServerError)) await requireRoom(helpers);
    await mailEntry(mailer, attempts, helpers, id);
  };
}

/** @throws an error if the mail is tried again. */
async function mailEntry(mailer: Mailer, attempts: MailAttempts, helpers: JobHelpers, id: string) {
  const entry = await findDueEntry(helpers, id);
  if (!entry) return;
  const failure = attempts.begin();
  if (failure) {
    await mails.waitForMailServer(helpers, 0);
    throw failure;
  }
  const token = createToken();
  if (!(await mails.claimMail(helpers, entry, token.hash))) return;
  try {
    const server = { url: mailer.url, client: new URL(mailer.site.origin).hostname };
    await sendMail(server, composeMessage(mailer, entry.email, token.token));
    attempts.succeed();
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const refused = attempts.fail(id, error);
    if (error.mayHaveArrived) throw error;
    const refusal = refused ? whenGivenUp(helpers, error) : error.refusal;
    await mails.releaseMail(helpers, entry, token.hash, refusal);
    for (const other of await mails.takeBackRefusals(helpers, refused ?? [])) await queueAgain(helpers, other, waiting);
    if (!refusal) {
      await (error.isOfMailbox ? mails.waitForMailbox(helpers) : mails.waitForMailServer(helpers, waiting.priority));
      throw error;
    }
    helpers.logger.warn(error.message);
  }
}

/** Returns the entry if it may get a mail now; if it may later, queues the mail for then. */
async function findDueEntry(helpers: JobHelpers, id: string) {
  const entry = await mails.findEntryToMail(helpers, id);
  if (!entry) return undefined;
  // A compromised web process could store spellings such as "ada@example.com ", and mail one person several times a day.
  if (normaliseEmail(entry.email) !== entry.email) {
    helpers.logger.warn(`no mail to entry ${id}: its address is not as a sign-up stores it`);
    return undefined;
  }
  const runAt = await mails.findNextMailTime(helpers, entry);
  if (!runAt) return entry;
  await queueAgain(helpers, id, { runAt });
  return undefined;
}

/** A mail that the server refused goes to the end of those that wait. */
const waiting = { flags: [mails.waitingFlag], priority: 1 };

const queueAgain = (helpers: JobHelpers, id: string, spec: TaskSpec) =>
  helpers.addJob("mail", { entry: id, passed: true }, { ...spec, jobKey: `mail ${id}` });

/** Returns what to record if the mail has waited for four days. */
function whenGivenUp({ job }: JobHelpers, { code }: MailError): string | undefined {
  const isLate = job.flags && Date.now() - job.created_at.getTime() > 4 * 86_400_000;
  return isLate ? code.slice(0, 20) : undefined;
}

export function mailedSite(config: Config): MailedSite {
  const { PUBLIC_URL: origin = "", CONTROLLER: controller, CONTACT_EMAIL: contact } = config;
  return {
    origin,
    controller,
    contact,
    retentionMonths: config.RETENTION_MONTHS,
    unconfirmedDays: config.UNCONFIRMED_DAYS,
  };
}

export function composeMessage({ from, site }: Pick<Mailer, "from" | "site">, email: string, token: string) {
  const { leaveUrl, ...content } = renderConfirmationMail(site, token);
  const headers = mailHeaders(leaveUrl);
  return { from, to: { name: "", address: email }, ...content, headers };
}

export function mailHeaders(leaveUrl: string) {
  return {
    "List-Unsubscribe": `<${leaveUrl}>`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "Auto-Submitted": "auto-generated",
    "X-Auto-Response-Suppress": "All", // Exchange knows no Auto-Submitted.
  };
}
