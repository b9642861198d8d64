// The task webhook: posts an event for each new entry and for each confirmed one, in Slack's format or as signed JSON.
// The pause between attempts is graphile-worker's own: exp(attempts) seconds, at most six hours, so that 25 attempts take four days.
import { createHmac } from "node:crypto";
import type { Task } from "graphile-worker";
import { sourceColumns } from "../database/columns.ts";
import type { Source } from "../models/source.ts";

export interface Webhook {
  url: string;
  /** Undefined: the request is not signed and has Slack's format. */
  secret: string | undefined;
}

/** Nothing about the person: data that has left the database cannot be erased. */
interface WebhookEvent extends Source {
  id: string;
  company: string;
  created_at: Date;
  /** Null if the event is the sign-up itself. */
  confirmed_at: Date | null;
}

const selectEntry = `SELECT id, company, created_at, ${sourceColumns.join(", ")} FROM public.earlyaccess WHERE id = $1`;

export function webhookTask(webhook: Webhook): Task {
  return async (payload, helpers) => {
    const { entry: id, confirmed } = payload as { entry: string; confirmed: boolean };
    const { rows } = await helpers.query<Omit<WebhookEvent, "confirmed_at">>(selectEntry, [id]);
    // There is no entry if the address was a duplicate, or the entry is erased.
    const [entry] = rows;
    if (!entry) return;
    // The trigger adds the job at the time of the confirmation. The worker's role need not read confirmed_at.
    await post(webhook, { ...entry, confirmed_at: confirmed ? helpers.job.created_at : null });
  };
}

/** @throws an Error that says what the receiver did instead of a 2xx, without its URL, which is a secret. */
async function post({ url, secret }: Webhook, event: WebhookEvent) {
  const body = JSON.stringify(secret ? toJson(event) : { text: formatMessage(event) });
  const headers = { "Content-Type": "application/json", ...(secret && sign(secret, messageId(event), body)) };
  const signal = AbortSignal.timeout(10_000); // Slack answers within about one second.
  const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal }).catch(
    (error: Error & { cause?: NodeJS.ErrnoException }) => {
      throw new Error(`The receiver cannot be reached: ${error.cause?.code ?? error.name}`);
    },
  );
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The receiver answered ${response.status}`);
}

function toJson({ confirmed_at, ...data }: WebhookEvent) {
  const type = confirmed_at ? "waitlist.confirmed" : "waitlist.joined";
  return { type, timestamp: confirmed_at ?? data.created_at, data };
}

/** A retry has the same id, so that a receiver recognises an event that it already has. */
const messageId = ({ id, confirmed_at }: WebhookEvent) => (confirmed_at ? `${id}-confirmed` : id);

/** Returns the headers of Standard Webhooks, https://www.standardwebhooks.com. */
function sign(secret: string, id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}

/** Returns the `text` of a message for Slack and compatible receivers, such as Mattermost. */
export function formatMessage(event: WebhookEvent): string {
  const { company, confirmed_at, utm_source, utm_campaign, referrer_host } = event;
  if (confirmed_at) return `Somebody from ${neutralise(company)} confirmed their address.`;
  const source = [
    utm_source && `source ${utm_source}`,
    utm_campaign && `campaign ${utm_campaign}`,
    referrer_host && `from ${referrer_host}`,
  ].filter(Boolean);
  const origin = source.length > 0 ? ` (${neutralise(source.join(", "))})` : "";
  return `Somebody from ${neutralise(company)} joined the early access list${origin}.`;
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/**
 * Makes a visitor's text inert in Slack and Mattermost: no line break, and no link, mention, channel or emoji, which a zero-width
 * space interrupts.
 * See https://docs.slack.dev/messaging/formatting-message-text
 */
function neutralise(text: string): string {
  return text
    .replaceAll(/[\p{Zl}\p{Zp}]/gu, " ")
    .replaceAll(/[&<>]/g, (character) => entities[character] as string)
    .replaceAll(/[@#~:/\].。．｡](?=\S)/gu, "$&\u200B");
}
