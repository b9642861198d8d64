// A mailing as a mail: the founder's text, then why it comes, the link to leave and who sends it, as plain text and as HTML.
import { confirmationMail, mailingEnd as copy, product } from "../../client/shared/content.ts";
import { leavePath, tokenParam } from "../../client/shared/paths.ts";
import { splitLinks, type MailingText, type Paragraph } from "../models/operators/mailing-text.ts";
import { escapeHtml } from "./document.ts";
import { mailButton, mailLink, renderMailCard } from "./mail-card.ts";

/** Who sends the mailing: all of it is required by law or by receivers. */
export interface MailingSender {
  /** With https. */
  origin: string;
  controller: string;
  contact: string;
}

export function renderMailing({ subject, paragraphs }: MailingText, sender: MailingSender, token: string) {
  const leaveUrl = `${sender.origin}${leavePath}?${tokenParam}=${token}`;
  const html = renderMailCard(subject, paragraphs.map(toHtml).join("\n"), renderFooter(sender, leaveUrl));
  return { subject, text: formatText(paragraphs, sender, leaveUrl), html, leaveUrl };
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

function toHtml(paragraph: Paragraph): string {
  if ("url" in paragraph) {
    return `<p dir="auto" style="margin: 24px 0">${mailButton(paragraph.url, paragraph.label)}</p>`;
  }
  const parts = splitLinks(paragraph.text).map(({ text, isLink }) =>
    isLink ? mailLink(text, text) : escapeHtml(text).replaceAll("\n", "<br>\n"),
  );
  return `<p dir="auto" style="margin: 0 0 16px; overflow-wrap: anywhere">${parts.join("")}</p>`;
}

function renderFooter({ controller, contact }: MailingSender, leaveUrl: string): string {
  return `<p style="margin: 0 0 4px">${escapeHtml(copy.reason)} ${mailLink(leaveUrl, copy.leave)}</p>
<p style="margin: 0 0 4px">${escapeHtml(controller)}</p>
<p style="margin: 0">${escapeHtml(confirmationMail.contact)} ${mailLink(`mailto:${contact}`, contact)}</p>`;
}
