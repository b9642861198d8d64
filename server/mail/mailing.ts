// A mailing as a mail: its settings, the founder's text, why it comes, the link to leave and who sends it, as plain text and as HTML.
import { confirmationMail, mailingEnd as copy, product } from "../../client/shared/content.ts";
import { leavePath, tokenParam } from "../../client/shared/paths.ts";
import type { Config } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import { splitLinks, type MailingText, type Paragraph } from "./letter.ts";
import { html, type Html } from "../views/document.ts";
import { mailButton, mailHeaders, mailLink, renderMailCard } from "./card.ts";

/** Who sends the mailing: all of it is required by law or by receivers. */
export interface MailingSender {
  /** With https. */
  origin: string;
  controller: string;
  contact: string;
}

export interface MailingSettings {
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

export function composeMailing({ from, sender }: MailingSettings, text: MailingText, token: string) {
  const { leaveUrl, ...content } = renderMailing(text, sender, token);
  // With "All", Exchange would suppress its reports of mails that it could not deliver.
  const headers = { ...mailHeaders(leaveUrl), "X-Auto-Response-Suppress": "OOF, AutoReply" };
  // Spam filters count a text in base64, which nodemailer prefers for other alphabets.
  return { from, ...content, headers, textEncoding: "quoted-printable" as const };
}

export function renderMailing({ subject, paragraphs }: MailingText, sender: MailingSender, token: string) {
  const leaveUrl = `${sender.origin}${leavePath}?${tokenParam}=${token}`;
  const content = html`${paragraphs.map((paragraph) => html`${toHtml(paragraph)}\n`)}`;
  const card = renderMailCard(subject, content, renderFooter(sender, leaveUrl));
  return { subject, text: formatText(paragraphs, sender, leaveUrl), html: card, leaveUrl };
}

/** Mail programs fold what follows "-- ": the link to leave stands above it. */
function formatText(paragraphs: Paragraph[], { controller, contact }: MailingSender, leaveUrl: string): string {
  const parts = [
    ...paragraphs.map((paragraph) => ("url" in paragraph ? `${paragraph.label}:\n${paragraph.url}` : paragraph.text)),
    copy.reason,
    `${copy.leave}:\n${leaveUrl}`,
    ["-- ", product.name, controller, `${confirmationMail.contact} ${contact}`].join("\n"),
  ];
  return `${parts.join("\n\n")}\n`;
}

function toHtml(paragraph: Paragraph): Html {
  if ("url" in paragraph) {
    return html`<p dir="auto" style="margin: 24px 0">${mailButton(paragraph.url, paragraph.label)}</p>`;
  }
  const parts = splitLinks(paragraph.text).map(({ text, isLink }) =>
    isLink ? mailLink(text, text) : text.split("\n").map((line, index) => (index > 0 ? html`<br>\n${line}` : line)),
  );
  return html`<p dir="auto" style="margin: 0 0 16px; overflow-wrap: anywhere">${parts}</p>`;
}

function renderFooter({ controller, contact }: MailingSender, leaveUrl: string): Html {
  return html`<p style="margin: 0 0 4px">${copy.reason} ${mailLink(leaveUrl, copy.leave)}</p>
<p style="margin: 0 0 4px">${controller}</p>
<p style="margin: 0">${confirmationMail.contact} ${mailLink(`mailto:${contact}`, contact)}</p>`;
}
