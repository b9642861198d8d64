// The task mail: the confirmation mail of an entry (double opt-in), at most one a day to an address and three in all.
import type { JobHelpers, Task } from "graphile-worker";
import * as mails from "../models/operators/mails.ts";
import { requireRoom, waitsForConfirmations } from "../models/operators/confirmation-pace.ts";
import { createToken } from "../models/entry-tokens.ts";
import { normaliseEmail } from "../models/sign-up-rules.ts";
import { composeMessage, type MailedSite } from "../mail/confirmation-mail.ts";
import { longestMessageMs, MailError, sendMail } from "../mail/mail-server.ts";

interface Mailer {
  url: string;
  from: { name: string; address: string };
  site: MailedSite;
}

/** After a failure of the mail server. */
const restMs = 60_000;

/** If the server refuses so many addresses, and accepts no mail between, the refusals are about the sender. */
const several = 3;

/**
 * The job names the entry, never its address. graphile-worker logs and stores the message of what is thrown, and tries again: 25 times
 * in four days.
 */
export function mailTask(mailer: Mailer): Task {
  const server = { url: mailer.url, client: new URL(mailer.site.origin).hostname };
  /** The latest failure of the mail server, if it accepted no mail since, and until when the other mails are not tried. */
  let rest: { failure: MailError; until: number } | undefined;
  /** The entries whose addresses were refused since the latest accepted mail. */
  const refused = new Set<string>();

  /** After a rest, lets one mail pass: while the server is silent, it holds up no webhook. */
  function requireServer(): void {
    if (!rest) return;
    if (performance.now() < rest.until) throw rest.failure;
    rest.until = performance.now() + longestMessageMs;
  }

  function noteFailure(id: string, failure: MailError): void {
    const { step, code, refusal } = failure;
    const until = performance.now() + restMs;
    if (rest) rest.until = until;
    if (mails.namesAddress(refusal)) return;
    if (step === "RCPT TO" && !(code.startsWith("5") && refused.add(id).size >= several)) return;
    rest = { failure, until };
  }

  return async (payload, helpers) => {
    const { entry: id, passed } = payload as { entry: string; passed?: true };
    const { last_error: lastError, attempts, max_attempts: most } = helpers.job;
    // Ask the pace once, before the entry is read: which jobs count must not depend on whether the address is on the list.
    if (!passed && (lastError === null || lastError === waitsForConfirmations)) await requireRoom(helpers);
    const entry = await findDueEntry(helpers, id);
    if (!entry) return;
    requireServer();
    const { token, hash } = createToken();
    if (!(await mails.claimMail(helpers, entry, hash))) return;
    try {
      await sendMail(server, composeMessage(mailer, entry.email, token));
      rest = undefined;
      refused.clear();
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
      noteFailure(id, error);
      if (error.mayHaveArrived) throw error;
      // Without an enhanced code, a refusal may end: only the last one is recorded, and none that may be about the sender.
      const isForGood = mails.namesAddress(error.refusal) || (attempts >= most && !rest);
      const refusal = isForGood ? error.refusal : undefined;
      await mails.releaseMail(helpers, entry, hash, refusal);
      if (!refusal) throw error;
      helpers.logger.warn(error.message);
    }
  };
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
  await helpers.addJob("mail", { entry: id, passed: true }, { runAt, jobKey: `mail ${id}` });
  return undefined;
}
