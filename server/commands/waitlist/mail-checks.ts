// The checks of doctor about mails: the confirmations, the server, and a test mail.
import type { SendMailOptions } from "nodemailer";
import type pg from "pg";
import { countMails, findMailFailures } from "../../models/operators/mail-state.ts";
import { readConfirmationPace } from "../../models/operators/confirmation-pace.ts";
import { createToken } from "../../models/entry-tokens.ts";
import type { Config } from "../../config/settings.ts";
import { loadConfig } from "../../config/load-config.ts";
import { composeMessage, mailedSite } from "../../mail/confirmation-mail.ts";
import { normaliseEmail } from "../../models/sign-up-rules.ts";
import { OperatorError, printable } from "../../errors.ts";
import { formatCount, lateHint, retryHint } from "../command.ts";
import { ok, problem, warn, type Finding } from "./finding.ts";

export async function examinePace(owner: pg.Client, { UNCONFIRMED_DAYS }: Config): Promise<Finding> {
  const pace = await readConfirmationPace(owner, UNCONFIRMED_DAYS);
  const state = `${pace.confirmed} of the latest ${pace.mails} mails that are older than two hours were confirmed`;
  if (!pace.isReached) return ok("Confirmations", state);
  const effect = `Mails wait for confirmations. Jobs that wait or were given up for this: ${formatCount(pace.waiting)}`;
  const hint =
    "Look at the entries with stats and export. Erase those that bots typed. If people typed them, the mails may lie in spam folders: see docs/mail.md.";
  return warn("Confirmations", `${state}. ${effect}. ${hint}`);
}

/** Says where the mails are, and the most frequent error. */
export async function examineMails(owner: pg.Client): Promise<Finding> {
  const { mailed, queued, givenUp, refused, missing } = await countMails(owner);
  const { failed, error, isServerFailing, isLate } = await findMailFailures(owner);
  const sentences = [
    `mailed ${formatCount(mailed)}, queued ${formatCount(queued)}, given up ${formatCount(givenUp)}, refused ${formatCount(refused)}, missing ${formatCount(missing)}`,
    isLate && lateHint,
    failed > 0 && `Failed ${formatCount(failed)}, most with: ${printable(error ?? "")}`,
    failed + givenUp + missing > 0 && retryHint,
  ].filter(Boolean);
  const judge = isServerFailing || isLate || missing > 0 ? warn : ok;
  return judge("Confirmation mails", sentences.join(". "));
}

const mailHint = "See docs/mail.md.";

export async function examineMailServer(url: string, { PUBLIC_URL = "" }: Config): Promise<Finding> {
  const { MailError, verifyMailServer } = await import("../../mail/mail-server.ts"); // nodemailer
  try {
    await verifyMailServer({ url, client: new URL(PUBLIC_URL).hostname });
    return ok("SMTP_URL", "the mail server accepts connections");
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    return problem("SMTP_URL", `${error.message}. Mails wait. ${mailHint}`);
  }
}

/** Sends the confirmation mail with links of no entry. */
export async function sendTestMail(email: string): Promise<Finding> {
  const config = loadConfig();
  const { MAIL_FROM: from, SMTP_URL: url } = config;
  const to = readTestAddress("--mail", email);
  if (!from || !url) throw new OperatorError("A test mail needs MAIL_FROM and SMTP_URL: see docs/mail.md.");
  const site = mailedSite(config);
  return sendTest(url, site.origin, composeMessage({ from, site }, to, createToken().token));
}

export function readTestAddress(option: string, email: string): string {
  const to = normaliseEmail(email);
  if (to) return to;
  throw new OperatorError(`${option} is "${printable(email)}" but must be an email address.`);
}

/** Returns the server's answer. */
export async function sendTest(
  url: string,
  origin: string,
  mail: SendMailOptions & { to: { address: string }; subject: string },
): Promise<Finding> {
  const { MailError, sendMail } = await import("../../mail/mail-server.ts"); // nodemailer
  try {
    const server = { url, client: new URL(origin).hostname };
    const { response, messageId } = await sendMail(server, { ...mail, subject: `Test: ${mail.subject}` });
    return ok("Test mail", `the server answered ${response}\nMessage-ID: ${messageId}`);
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const isAboutMail = ["MAIL FROM", "RCPT TO", "DATA"].includes(error.step) && error.reply;
    return problem("Test mail", isAboutMail || `${error.message}. ${mailHint}`);
  }
}
