// The headers and the layout of all mails: a card with the logo and, below it, who sends the mail. Mail readers know few styles.
import { product } from "../../client/shared/content.ts";
import { html, type Html } from "../views/document.ts";

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
const darkStyles = html`
:root { color-scheme: light dark; supported-color-schemes: light dark }
@media (prefers-color-scheme: dark) {
  .page { background: ${dark.paper} !important; color: ${dark.ink} !important }
  .card { background: ${dark.surface} !important; color: ${dark.ink} !important; border-color: ${dark.line} !important }
  .soft { color: ${dark["ink-soft"]} !important }
  .link { color: ${dark.leaf} !important }
  .stem { border-color: ${dark.leaf} !important }
  .leaf { background: ${dark.leaf} !important }
  .button { background: ${dark.leaf} !important; border-color: ${dark.leaf} !important; color: ${dark["on-leaf"]} !important }
}`;

const font = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";

/** The logo as two boxes: mail readers block images until the reader asks for them. */
const logo = html`<span class="stem" style="border-left: 5px solid ${light.leaf}; border-radius: 0 0 2px 2px; display: inline-block;
  height: 26px; margin-right: 6px; vertical-align: middle"><span class="leaf" style="background: ${light.leaf};
  border-radius: 0 11px 0 11px; display: block; height: 18px; width: 19px"></span></span>`;

/** The colour of small text, for the class soft. */
export const softColour = `color: ${light["ink-soft"]}`;

export function mailLink(url: string, text: string): Html {
  return html`<a class="link" href="${url}" style="color: ${light.leaf}; overflow-wrap: anywhere">${text}</a>`;
}

/** Its border is what Thunderbird shows on a dark desktop, where it drops backgrounds. */
export function mailButton(url: string, label: string): Html {
  return html`<a class="button" href="${url}" style="background: ${light.leaf}; border: 2px solid ${light.leaf}; border-radius: 0 20px;
  color: ${light["on-leaf"]}; display: inline-block; font-weight: 600; padding: 10px 18px; text-decoration: none">${label}</a>`;
}

/**
 * Styles are inline, because some mail readers drop <style>, and on a <div>, because some drop <body>. Whatever sets a background
 * also sets the colour of its text.
 * @param content of the card, below the logo. @param footer below the card.
 */
export function renderMailCard(title: string, content: Html, footer: Html): string {
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
<style>${darkStyles}</style>
</head>
<body style="margin: 0">
<div class="page" style="background: ${light.paper}; color: ${light.ink}; font: 16px/1.5 ${font}; padding: 24px 12px">
<div class="card" style="background: ${light.surface}; color: ${light.ink}; border: 1px solid ${light.line}; border-radius: 0 48px; margin: 0 auto;
  max-width: 480px; padding: 24px">
<p style="font-size: 20px; font-weight: 700; margin: 0 0 16px">${logo} ${product.name}</p>
${content}
</div>
<div class="soft" style="${softColour}; font-size: 14px; margin: 16px auto 0; max-width: 480px; padding: 0 24px">
${footer}
</div>
</div>
</body>
</html>
`;
  return document.toString();
}

export function mailHeaders(leaveUrl: string) {
  return {
    "List-Unsubscribe": `<${leaveUrl}>`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "Auto-Submitted": "auto-generated",
    "X-Auto-Response-Suppress": "All", // Exchange knows no Auto-Submitted.
  };
}
