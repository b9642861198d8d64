// Posts a notice to the operator's receiver: as Slack reads it, or as JSON that is signed.
import { createHmac } from "node:crypto";
import { describeNotice, type Notice } from "./models/notice.ts";

export interface Webhook {
  url: string;
  /** Undefined: not signed, for Slack. */
  secret: string | undefined;
}

/** In milliseconds. Slack answers within one second or so. */
const patienceMs = 10_000;

/**
 * Resolves when the receiver took the notice with a 2xx.
 * @throws an Error that says what the receiver did instead, without its address, which is a secret.
 */
export async function postNotice({ url, secret }: Webhook, notice: Notice, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify(secret ? asEvent(notice) : { text: describeNotice(notice) });
  const headers = { "Content-Type": "application/json", ...(secret ? sign(secret, notice.id, body) : {}) };
  const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: patience }).catch(
    (error: Error & { cause?: NodeJS.ErrnoException }) => {
      throw new Error(`The receiver cannot be reached: ${error.cause?.code ?? error.name}`);
    },
  );
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The receiver answered ${response.status}`);
}

function asEvent(notice: Notice) {
  return { type: "waitlist.joined", timestamp: notice.created_at, data: notice };
}

/**
 * The headers of Standard Webhooks, https://www.standardwebhooks.com. The id is the entry's, also when a notice is tried
 * again: a receiver that took it, and could not say so, knows it by that.
 */
function sign(secret: string, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
