// The layout of the confirmation mail, as plain text and as HTML; its text is in client/shared/content.ts.
import { confirmPath, leavePath, tokenParam } from "../../client/shared/paths.ts";
import type { SiteSettings } from "../../client/shared/site-settings.ts";
import { confirmationMail as copy, privacyPage, product } from "../../client/shared/content.ts";
import { escapeHtml } from "./document.ts";

export type MailedSite = Pick<SiteSettings, "controller" | "contact" | "retentionMonths"> & { origin: string };

/** The colours of client/tokens.css, as mail readers know no custom properties. A test compares them. */
export const mailColours = {
  light: {
    paper: "#f5f7f1",
    surface: "#ffffff",
    ink: "#12231a",
    "ink-soft": "#4a5a50",
    line: "#d9dfd4",
    leaf: "#14683f",
    "on-leaf": "#ffffff",
  },
  dark: {
    paper: "#0c1410",
    surface: "#131d17",
    ink: "#e9f0e9",
    "ink-soft": "#a6b6ab",
    line: "#2b3a31",
    leaf: "#74d19d",
    "on-leaf": "#06150d",
  },
};
const { light, dark } = mailColours;

/** Inline styles would win without !important. Mail readers without media queries show the light colours. */
const darkStyles = `
:root { color-scheme: light dark; supported-color-schemes: light dark }
@media (prefers-color-scheme: dark) {
  .page { background: ${dark.paper} !important; color: ${dark.ink} !important }
  .card { background: ${dark.surface} !important; border-color: ${dark.line} !important }
  .soft { color: ${dark["ink-soft"]} !important }
  .link { color: ${dark.leaf} !important }
  .stem { border-color: ${dark.leaf} !important }
  .leaf { background: ${dark.leaf} !important }
  .button { background: ${dark.leaf} !important; color: ${dark["on-leaf"]} !important }
}`;

export function renderConfirmationMail(site: MailedSite, token: string) {
  const toUrl = (path: string) => `${site.origin}${path}?${tokenParam}=${token}`;
  const urls = { confirmUrl: toUrl(confirmPath), leaveUrl: toUrl(leavePath) };
  return { subject: copy.subject, text: formatText(site, urls), html: formatHtml(site, urls), leaveUrl: urls.leaveUrl };
}

interface Urls {
  confirmUrl: string;
  leaveUrl: string;
}

const describeInaction = ({ retentionMonths }: MailedSite) =>
  `${copy.otherwise} ${privacyPage.retention(retentionMonths)}`;

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

const font = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

/** The logo as two boxes: mail readers block images until the reader asks for them. */
const logo = `<span class="stem" style="border-left: 5px solid ${light.leaf}; border-radius: 0 0 2px 2px; display: inline-block;
  height: 26px; margin-right: 6px; vertical-align: middle"><span class="leaf" style="background: ${light.leaf};
  border-radius: 0 11px 0 11px; display: block; height: 18px; width: 19px"></span></span>`;

/** Styles are inline, because some mail readers drop <style>. */
function formatHtml(site: MailedSite, { confirmUrl, leaveUrl }: Urls): string {
  const { controller, contact } = site;
  const linkTo = (url: string, text: string) =>
    `<a class="link" href="${escapeHtml(url)}" style="color: ${light.leaf}; overflow-wrap: anywhere">${escapeHtml(text)}</a>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(copy.subject)}</title>
<style>${darkStyles}</style>
</head>
<body class="page" style="background: ${light.paper}; color: ${light.ink}; font: 16px/1.5 ${font}; margin: 0; padding: 24px 12px">
<div class="card" style="background: ${light.surface}; border: 1px solid ${light.line}; border-radius: 0 48px; margin: 0 auto;
  max-width: 480px; padding: 24px">
<p style="font-size: 20px; font-weight: 700; margin: 0 0 16px">${logo} ${escapeHtml(product.name)}</p>
<h1 style="font-size: 24px; line-height: 1.2; margin: 0 0 16px">${escapeHtml(copy.heading)}</h1>
<p style="margin: 0 0 16px">${escapeHtml(copy.text)}</p>
<p style="margin: 24px 0"><a class="button" href="${confirmUrl}" style="background: ${light.leaf}; border-radius: 0 20px;
  color: ${light["on-leaf"]}; display: inline-block; font-weight: 600; padding: 12px 20px; text-decoration: none">${escapeHtml(copy.confirm)}</a></p>
<p style="margin: 0 0 16px">${escapeHtml(copy.next)}</p>
<p class="soft" style="color: ${light["ink-soft"]}; margin: 0">${escapeHtml(copy.leaveText)} ${linkTo(leaveUrl, copy.leave)}.
${escapeHtml(describeInaction(site))}</p>
</div>
<div class="soft" style="color: ${light["ink-soft"]}; font-size: 14px; margin: 16px auto 0; max-width: 480px; padding: 0 24px">
${controller ? `<p style="margin: 0 0 4px">${escapeHtml(controller)}</p>` : ""}
${contact ? `<p style="margin: 0">${escapeHtml(copy.contact)} ${linkTo(`mailto:${contact}`, contact)}</p>` : ""}
</div>
</body>
</html>
`;
}
