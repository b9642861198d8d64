// The task mailing: sends the mailing that is under way at its pace, to each entry at most once. One job serves all mailings.
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { JobHelpers, Task } from "graphile-worker";
import type { Config } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { createToken } from "../models/entry-tokens.ts";
import * as delivery from "../models/operators/mailing-delivery.ts";
import { parseMailingText, type MailingText } from "../mail/letter.ts";
import { mailingJob } from "../models/operators/mailings.ts";
import { namesAddress } from "../models/operators/mails.ts";
import { normaliseEmail } from "../models/sign-up-rules.ts";
import { renderMailing, type MailingSender } from "../mail/mailing.ts";
import { mailHeaders } from "./mail.ts";
import { MailError, sendMail } from "../mail/mail-server.ts";

/** How long a job works. Other tasks then get their turn, and a stop need not wait. */
const turnMs = 5_000;
/** A job does not wait longer between two mails, but puts itself back. */
const longestWaitMs = 2_000;
/** After a failure of the mail server. */
const failurePauseMs = 10 * 60_000;

interface MailingSettings {
  /** Of the mail server. */
  url: string;
  from: { name: string; address: string };
  sender: MailingSender;
}

/** @throws OperatorError that names the settings which a mailing lacks. */
export function readMailingSettings(config: Config): MailingSettings {
  const { MAIL_FROM: from, SMTP_URL: url, CONTROLLER: controller, CONTACT_EMAIL: contact, PUBLIC_URL: origin } = config;
  if (from && url && controller && contact && origin?.startsWith("https:")) {
    return { url, from, sender: { origin, controller, contact } };
  }
  const needed = ["MAIL_FROM", "SMTP_URL", "CONTROLLER", "CONTACT_EMAIL"] as const;
  const missing: string[] = needed.filter((name) => !config[name]);
  if (!origin?.startsWith("https:")) missing.push("PUBLIC_URL with https");
  throw new OperatorError(`A mailing needs settings that are missing: ${missing.join(", ")}. See docs/launch.md.`);
}

/** @param signal ends the turn after the mail that is being sent. */
export function mailingTask(config: Config, signal: AbortSignal): Task {
  return async (_payload, helpers) => {
    const runAt = await takeTurn(config, signal, helpers);
    // A command may have queued the job meanwhile, for now.
    const spec = { jobKey: mailingJob, queueName: mailingJob, jobKeyMode: "preserve_run_at" } as const;
    if (runAt) await helpers.addJob(mailingJob, {}, { ...spec, runAt });
  };
}

/** Returns when the next turn begins, or undefined if no mailing is under way. */
async function takeTurn(config: Config, signal: AbortSignal, helpers: JobHelpers) {
  const end = Date.now() + turnMs;
  for (;;) {
    const next = await delivery.findNextMail(helpers);
    if (!next) return undefined;
    if (next.fault) {
      helpers.logger.warn(`the mailing ${next.name} stops: ${next.fault}`);
      await delivery.stopAfterFault(helpers, next.name, next.fault);
      continue;
    }
    if (next.dueAt) return next.dueAt;
    const waitMs = await sendNext(readMailingSettings(config), helpers, next);
    const runAt = new Date(Date.now() + waitMs);
    if (waitMs > longestWaitMs || runAt.getTime() >= end) return runAt;
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return runAt;
  }
}

/** Returns how long the mailing waits, in milliseconds. */
async function sendNext(
  mailing: MailingSettings,
  helpers: JobHelpers,
  { name, text, perHour, entryId, email }: delivery.NextMail,
): Promise<number> {
  const { token, hash: tokenHash } = createToken();
  const claim = { name, entryId, tokenHash };
  if (email === null || normaliseEmail(email) !== email) return skip();
  // Before the claim: an error here must mark nobody.
  const mail = {
    ...composeMailing(mailing, parseMailingText(text), email, token),
    messageId: toMessageId(mailing, claim),
  };
  if (!(await delivery.claimMail(helpers, claim, email))) return skip();
  try {
    await sendMail({ url: mailing.url, client: new URL(mailing.sender.origin).hostname }, mail);
    await delivery.recordSent(helpers, claim);
    return 3_600_000 / perHour;
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    helpers.logger.warn(`a mail of the mailing ${name} failed: ${error.message}`);
    const refusal = error.refusal && namesAddress(error.refusal) ? error.refusal : null;
    await delivery.recordFailure(helpers, claim, error.mayHaveArrived ? undefined : refusal, error.message);
    return refusal || error.isOfMailbox ? 3_600_000 / perHour : failurePauseMs;
  }

  async function skip() {
    await delivery.skipMail(helpers, name, entryId);
    return 0;
  }
}

export function composeMailing({ from, sender }: MailingSettings, text: MailingText, email: string, token: string) {
  const { leaveUrl, ...content } = renderMailing(text, sender, token);
  // With "All", Exchange would suppress its reports of mails that it could not deliver.
  const headers = { ...mailHeaders(leaveUrl), "X-Auto-Response-Suppress": "OOF, AutoReply" };
  // Spam filters count a text in base64, which nodemailer prefers for other alphabets.
  return { from, to: { name: "", address: email }, ...content, headers, textEncoding: "quoted-printable" as const };
}

/** The same for each attempt, so that a receiver can drop a second copy. */
function toMessageId({ from }: MailingSettings, { name, entryId }: delivery.Claim): string {
  return `<${hash("sha256", `${name} ${entryId}`).slice(0, 32)}@${from.address.split("@").at(-1)}>`;
}
