// The confirmation mail, with its headers, as plain text and as HTML; its words are in client/shared/content.ts.
import { confirmPath, leavePath, tokenParam } from "../../client/shared/paths.ts";
import type { SiteSettings } from "../../client/shared/site-settings.ts";
import { confirmationMail as copy, privacyPage, product } from "../../client/shared/content.ts";
import type { Config } from "../config/settings.ts";
import { html } from "../views/document.ts";
import { mailButton, mailHeaders, mailLink, renderMailCard, softColour } from "./card.ts";

export type MailedSite = Pick<SiteSettings, "controller" | "contact" | "retentionMonths" | "unconfirmedDays"> & {
  origin: string;
};

export function mailedSite(config: Config): MailedSite {
  const { PUBLIC_URL: origin = "", CONTROLLER: controller, CONTACT_EMAIL: contact } = config;
  return {
    origin,
    controller,
    contact,
    retentionMonths: config.RETENTION_MONTHS,
    unconfirmedDays: config.UNCONFIRMED_DAYS,
  };
}

export function composeMessage(
  { from, site }: { from: { name: string; address: string }; site: MailedSite },
  email: string,
  token: string,
) {
  const { leaveUrl, ...content } = renderConfirmationMail(site, token);
  const headers = mailHeaders(leaveUrl);
  return { from, to: { name: "", address: email }, ...content, headers };
}

/**
 * Takes no column of the entry, because no mail may repeat what a visitor typed: see confirmationMail in client/shared/content.ts. For mails,
 * the worker's role has no right to read name and company.
 */
export function renderConfirmationMail(site: MailedSite, token: string) {
  const toUrl = (path: string) => `${site.origin}${path}?${tokenParam}=${token}`;
  const urls = { confirmUrl: toUrl(confirmPath), leaveUrl: toUrl(leavePath) };
  return { subject: copy.subject, text: formatText(site, urls), html: formatHtml(site, urls), leaveUrl: urls.leaveUrl };
}

interface Urls {
  confirmUrl: string;
  leaveUrl: string;
}

const describeInaction = ({ retentionMonths, unconfirmedDays }: MailedSite) =>
  unconfirmedDays > 0
    ? copy.otherwiseDeleted(unconfirmedDays)
    : `${copy.otherwise} ${privacyPage.retention(retentionMonths)}`;

function formatText(site: MailedSite, { confirmUrl, leaveUrl }: Urls): string {
  const { controller, contact } = site;
  const footer = [...(controller ? [controller] : []), ...(contact ? [`${copy.contact} ${contact}`] : [])];
  const parts = [
    copy.heading,
    copy.text,
    `${copy.confirm}:\n${confirmUrl}`,
    copy.next,
    `${copy.leaveText} ${copy.leave}:\n${leaveUrl}`,
    describeInaction(site),
    ...(footer.length > 0 ? [["-- ", product.name, ...footer].join("\n")] : []),
  ];
  return `${parts.join("\n\n")}\n`;
}

function formatHtml(site: MailedSite, { confirmUrl, leaveUrl }: Urls): string {
  const { controller, contact } = site;
  const content = html`<h1 style="font-size: 24px; line-height: 1.2; margin: 0 0 16px">${copy.heading}</h1>
<p style="margin: 0 0 16px">${copy.text}</p>
<p style="margin: 24px 0">${mailButton(confirmUrl, copy.confirm)}</p>
<p style="margin: 0 0 16px">${copy.next}</p>
<p class="soft" style="${softColour}; margin: 0">${copy.leaveText} ${mailLink(leaveUrl, copy.leave)}.
${describeInaction(site)}</p>`;
  const footer = html`${controller ? html`<p style="margin: 0 0 4px">${controller}</p>` : ""}
${contact ? html`<p style="margin: 0">${copy.contact} ${mailLink(`mailto:${contact}`, contact)}</p>` : ""}`;
  return renderMailCard(copy.subject, content, footer);
}
