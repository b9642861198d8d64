// A notification of a sign-up or a confirmation: where it came from, and nothing about the person, as what has left the database cannot be erased.
import { sourceColumns, type Source } from "../models/source.ts";

export interface Notification extends Source {
  /** Of the entry. */
  id: string;
  company: string;
  created_at: Date;
  /** Null if the notification is of the sign-up itself. */
  confirmed_at: Date | null;
}

export const notificationColumns = [
  "id",
  "company",
  "created_at",
  ...sourceColumns,
] as const satisfies (keyof Notification)[];

/** What the entry holds of a notification. */
export type AnnouncedEntry = Pick<Notification, (typeof notificationColumns)[number]>;

/** Returns the `text` of a message for Slack and compatible receivers, such as Mattermost. */
export function formatMessage(notification: Notification): string {
  const { company, confirmed_at, utm_source, utm_campaign, referrer_host } = notification;
  if (confirmed_at) return `Somebody from ${neutralise(company)} confirmed their address.`;
  const source = [
    ...(utm_source ? [`source ${utm_source}`] : []),
    ...(utm_campaign ? [`campaign ${utm_campaign}`] : []),
    ...(referrer_host ? [`from ${referrer_host}`] : []),
  ];
  return [
    `Somebody from ${neutralise(company)} joined the early access list`,
    ...(source.length > 0 ? [` (${neutralise(source.join(", "))})`] : []),
    ".",
  ].join("");
}

const replacements: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "*": "\u2217",
  _: "\uFF3F",
  "~": "\u223C",
  "`": "\u02CB",
};

/**
 * Makes a visitor's text inert in Slack and Mattermost: no link, mention, emoji, emphasis or line break.
 * Slack decodes only the entities of & < and >, so * _ ~ and ` become look-alikes; a zero-width space interrupts links.
 * Fields such as "mrkdwn" would not help everywhere: Google Chat refuses a message with fields that it does not know.
 * See https://docs.slack.dev/messaging/formatting-message-text
 */
function neutralise(text: string): string {
  return text
    .replaceAll(/[\p{Zl}\p{Zp}]/gu, " ")
    .replaceAll(/[&<>*_~`]/g, (character) => replacements[character] as string)
    .replaceAll(/[@#:/\].。．｡](?=\S)/gu, "$&\u200B");
}
