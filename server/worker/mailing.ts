// The lane of mailings: sends the mailing that is under way at its pace, to each entry at most once, beside the jobs of the worker.
import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger as Log } from "pino";
import type { Config } from "../config/settings.ts";
import { errorFields, OperatorError } from "../errors.ts";
import { createToken } from "../models/entry-tokens.ts";
import * as delivery from "../models/operators/mailing-delivery.ts";
import { parseMailingText, type MailingText } from "../mail/letter.ts";
import { namesAddress } from "../models/operators/mails.ts";
import { normaliseEmail } from "../models/sign-up-rules.ts";
import { composeMailing, readMailingSettings, type MailingSettings } from "../mail/mailing.ts";
import { MailError, sendMail } from "../mail/mail-server.ts";

/** A command may change a mailing at any time. */
export const lanePause = { longestMs: 1_000 };

/** So many refusals in a row that say no reason are about the sender. */
const severalRefusals = 3;

interface Lane {
  queue: delivery.Queue;
  config: Config;
  log: Log;
  signal: AbortSignal;
  /** How many people in a row were refused at their first try, without an enhanced code. */
  refusals: number;
}

/** @param signal ends the lane after the mail that is being sent. Never rejects: it goes on when Postgres does. */
export async function sendMailings(
  queue: delivery.Queue,
  config: Config,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const lane = { queue, config, log, signal, refusals: 0 };
  let latest: string | undefined;
  while (!signal.aborted) {
    let waitMs = lanePause.longestMs;
    try {
      waitMs = await takeTurn(lane);
      latest = undefined;
    } catch (error) {
      const { name, code = name } = errorFields(error);
      if (code !== latest) log.warn({ error: errorFields(error) }, "mailings wait");
      latest = code;
    }
    if (waitMs > 0) await pause(Math.min(waitMs, lanePause.longestMs), signal);
  }
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined);

/** Sends one mail at most. Returns the milliseconds until the next turn. */
async function takeTurn(lane: Lane): Promise<number> {
  const { queue, config, log } = lane;
  const mailing = await delivery.findDueMailing(queue);
  if (!mailing) return lanePause.longestMs;
  if (mailing.fault) {
    log.warn(`the mailing ${mailing.name} stops: ${mailing.fault}`);
    await delivery.stopMailing(queue, mailing.name, mailing.fault);
    return 0;
  }
  if (mailing.waitMs > 0) return mailing.waitMs;
  try {
    const settings = readMailingSettings(config);
    return await sendNext(lane, mailing, settings, parseMailingText(mailing.text));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    log.warn(`the mailing ${mailing.name} waits: ${error.message}`);
    await delivery.restMailing(queue, mailing.name, error.message);
    return 0;
  }
}

async function sendNext(lane: Lane, mailing: delivery.DueMailing, settings: MailingSettings, text: MailingText) {
  const { queue } = lane;
  const { token, hash: tokenHash } = createToken();
  // Before the claim: an error here must mark nobody.
  const letter = composeMailing(settings, text, token);
  const person = await delivery.claimRecipient(queue, mailing, tokenHash);
  if (!person) return lanePause.longestMs;
  const { entryId, email, tries } = person;
  if (email === null) return 0;
  const claim = { name: mailing.name, entryId, tokenHash };
  // The list, edited by hand, may have an address in two spellings.
  if (normaliseEmail(email) !== email) {
    await delivery.recordOutcome(queue, claim, "skipped");
    return 0;
  }
  const mail = { ...letter, to: { name: "", address: email }, messageId: toMessageId(settings, claim) };
  try {
    await sendMail({ url: settings.url, client: new URL(settings.sender.origin).hostname }, mail);
    lane.refusals = 0;
    await record(lane, () => delivery.recordSent(queue, claim));
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    lane.log.warn(`a mail of the mailing ${claim.name} failed: ${error.message}`);
    if (mustRest(lane, error, tries === 0)) await record(lane, () => delivery.restMailing(queue, claim.name));
    await record(lane, () => recordFailure(queue, claim, error));
  }
  return 0;
}

/**
 * Repeats a statement until Postgres runs it or the worker ends: otherwise, nobody would know what became of the mail. Not if Postgres
 * refuses a value (the classes 22 and 23), as after a compromised worker: then the mail stays unknown.
 */
async function record({ signal }: Lane, statement: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await statement();
    } catch (error) {
      if (signal.aborted || /^2[23]/.test(errorFields(error).code ?? "")) throw error;
      await pause(lanePause.longestMs, signal);
    }
  }
}

async function recordFailure(queue: delivery.Queue, claim: delivery.Claim, error: MailError): Promise<void> {
  const { step, refusal, mayHaveArrived, message } = error;
  if (mayHaveArrived) return delivery.recordOutcome(queue, claim, "unknown", message);
  if (refusal && namesAddress(refusal)) return delivery.recordOutcome(queue, claim, refusal, message);
  // Before RCPT TO, nothing is said about the person.
  if (step === "RCPT TO" || step === "DATA") return delivery.putOff(queue, claim, message);
  return delivery.putBack(queue, claim, message);
}

/**
 * Returns false if the reply is about one mailbox. A refusal without an enhanced code may be about the sender; those of later tries
 * come one after the other, and do not count.
 */
function mustRest(lane: Lane, { step, code, refusal }: MailError, isFirst: boolean): boolean {
  if (step === "RCPT TO" && /^55\d$/.test(code)) {
    if (isFirst) lane.refusals++;
    return isFirst && lane.refusals >= severalRefusals;
  }
  lane.refusals = 0;
  if (refusal && namesAddress(refusal)) return false;
  return step !== "RCPT TO" || !/^4| 5\.2\.2$/.test(code);
}

/** The same for each attempt, so that a receiver can drop a second copy. */
function toMessageId({ from }: MailingSettings, { name, entryId }: delivery.Claim): string {
  return `<${hash("sha256", `${name} ${entryId}`).slice(0, 32)}@${from.address.split("@").at(-1)}>`;
}
