// Posts a notification to the operator's webhook: as Slack reads it, or as signed JSON.
import { createHmac } from "node:crypto";
import { withDeadline } from "./deadline.ts";
import { formatMessage, type Notification } from "./notification.ts";

export interface Webhook {
  url: string;
  /** Undefined: the request is not signed and has Slack's format. */
  secret: string | undefined;
}

/** Slack answers within about one second. */
const timeoutMs = 10_000;

/**
 * Resolves when the receiver answers with 2xx.
 * @throws an Error that says what the receiver did instead, without its URL, which is a secret.
 */
export async function postNotification(
  { url, secret }: Webhook,
  notification: Notification,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify(secret ? toEvent(notification) : { text: formatMessage(notification) });
  const signature = secret ? sign(secret, messageId(notification), body) : {};
  const headers = { "Content-Type": "application/json", ...signature };
  const post = (deadline: AbortSignal) =>
    fetch(url, { method: "POST", headers, body, redirect: "manual", signal: deadline });
  const response = await withDeadline(timeoutMs, signal, post).catch(
    (error: Error & { cause?: NodeJS.ErrnoException }) => {
      throw new Error(`The receiver cannot be reached: ${error.cause?.code ?? error.name}`);
    },
  );
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The receiver answered ${response.status}`);
}

function toEvent({ confirmed_at, ...data }: Notification) {
  if (confirmed_at) return { type: "waitlist.confirmed", timestamp: confirmed_at, data };
  return { type: "waitlist.joined", timestamp: data.created_at, data };
}

/** The same after a retry, so that a receiver can recognise a notification which it already has. */
const messageId = ({ id, confirmed_at }: Notification) => (confirmed_at ? `${id}-confirmed` : id);

/** Returns the headers of Standard Webhooks, https://www.standardwebhooks.com. */
function sign(secret: string, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
