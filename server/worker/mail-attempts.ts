// Which mails are tried: each at once, or one a minute after the mail server failed, until it accepts one.
// A full mailbox: mail-server.ts says which replies mean it, models/operators/mails.ts how long its mail waits.
import { waitingFlag } from "../models/operators/mails.ts";
import type { MailError } from "../mail/mail-server.ts";

const pauseMs = 60_000;

/** If so many addresses in a row get the same refusal, it is about the sender. */
const several = 3;

/** In memory, because only one worker runs at a time; after a restart, it tries at once. */
export class MailAttempts {
  /** The latest failure, if no mail was accepted since. */
  #failure: MailError | undefined;
  #nextAttempt = 0;
  #nextJob = 0;
  /** The latest refusal without an enhanced code, and the entries that got it, if no mail was accepted between. */
  #refusal = "";
  #refused = new Set<string>();

  /** graphile-worker calls it before it takes a job. After the minute, one job may come: several together would lose their order. */
  readonly forbiddenFlags = (): string[] => {
    if (this.#isPaused() || (this.#failure && Date.now() < this.#nextJob)) return [waitingFlag];
    this.#nextJob = Date.now() + 1000; // Another one, if this one was a webhook.
    return [];
  };

  /** Returns the latest failure if the mail must wait. Otherwise, while the server fails, the other mails wait for a minute. */
  begin(): MailError | undefined {
    if (this.#isPaused()) return this.#failure;
    this.#nextAttempt = Date.now() + pauseMs;
    return undefined;
  }

  succeed(): void {
    this.#failure = undefined;
    this.#refused.clear();
  }

  /**
   * Returns undefined if the reply is about the address of the entry, which only an enhanced code says for certain. Otherwise, the
   * other mails wait, unless the reply is about one mailbox; the returned entries had the same refusal.
   */
  fail(entry: string, error: MailError): string[] | undefined {
    if (error.isOfMailbox) return [];
    if (error.refusal && this.#addRefusal(entry, error) < several) return undefined;
    this.#failure = error;
    this.#nextAttempt = Date.now() + pauseMs;
    return error.refusal ? [...this.#refused] : [];
  }

  #isPaused = () => this.#failure !== undefined && Date.now() < this.#nextAttempt;

  /** Returns how many entries in a row got a refusal that does not say its reason. */
  #addRefusal(entry: string, { code, message }: MailError): number {
    if (code.includes(".")) return 0;
    // Without words with digits, such as the number of the message.
    const refusal = message.replaceAll(/\S*\d\S*/g, "");
    if (refusal !== this.#refusal) this.#refused.clear();
    this.#refusal = refusal;
    return this.#refused.add(entry).size;
  }
}
