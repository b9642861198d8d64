// What is told of a sign-up: where it came from, and nothing of the person, as what has left the database cannot be erased.
import { sourceColumns, type Source } from "./source.ts";

export interface Notice extends Source {
  /** Of the entry. */
  id: string;
  company: string;
  created_at: Date;
}

export const noticeColumns = ["id", "company", "created_at", ...sourceColumns] as const satisfies (keyof Notice)[];

/** As the `text` of a message for Slack and what understands the same, such as Mattermost. */
export function describeNotice({ company, utm_source, utm_campaign, referrer_host }: Notice): string {
  const led = [
    ...(utm_source ? [`source ${utm_source}`] : []),
    ...(utm_campaign ? [`campaign ${utm_campaign}`] : []),
    ...(referrer_host ? [`from ${referrer_host}`] : []),
  ];
  return [
    `Somebody from ${escape(company)} joined the early access list`,
    ...(led.length > 0 ? [` (${escape(led.join(", "))})`] : []),
    ".",
  ].join("");
}

/**
 * What a visitor typed mentions nobody: https://docs.slack.dev/messaging/formatting-message-text; what understands the same
 * format reads a plain @channel, too, where no character comes between.
 */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("@", "@\u200B");
}
