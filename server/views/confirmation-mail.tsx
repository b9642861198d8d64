// The layout of the confirmation mail, as plain text and as HTML; its text is in client/shared/content.ts.
import { renderToStaticMarkup } from "react-dom/server";
import { confirmPath, leavePath, tokenParam } from "../../client/shared/paths.ts";
import { confirmationMail as copy, privacyPage, product } from "../../client/shared/content.ts";

export interface MailedSite {
  origin: string;
  /** Name and postal address of who keeps the list. */
  controller: string | undefined;
  /** The address for questions. */
  contact: string | undefined;
  /** 0 sets no limit. */
  retentionMonths: number;
}

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
type Colours = typeof mailColours.light;

const colourRules = (colours: Colours) => `
.page { background: ${colours.paper}; color: ${colours.ink} }
.card { background: ${colours.surface}; border: 1px solid ${colours.line} }
.soft { color: ${colours["ink-soft"]} }
.link { color: ${colours.leaf} }
.stem { border-left: 5px solid ${colours.leaf} }
.leaf { background: ${colours.leaf} }
.button { background: ${colours.leaf}; color: ${colours["on-leaf"]} }`;

/** Mail readers without media queries show the light colours. A mail reader that drops the stylesheet shows the text and the links. */
const styles = `
:root { color-scheme: light dark; supported-color-schemes: light dark }
.page { font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; margin: 0; padding: 24px 12px }
.card { border-radius: 0 48px; margin: 0 auto; max-width: 480px; padding: 24px }
.product { font-size: 20px; font-weight: 700 }
.stem { border-radius: 0 0 2px 2px; display: inline-block; height: 26px; margin-right: 6px; vertical-align: middle }
.leaf { border-radius: 0 11px 0 11px; display: block; height: 18px; width: 19px }
h1 { font-size: 24px; line-height: 1.2; margin: 0 0 16px }
p { margin: 0 0 16px }
.action { margin: 24px 0 }
.button { border-radius: 0 20px; display: inline-block; font-weight: 600; padding: 12px 20px; text-decoration: none }
.link { overflow-wrap: anywhere }
.last { margin: 0 }
.footer { font-size: 14px; margin: 16px auto 0; max-width: 480px; padding: 0 24px }
.footer p { margin: 0 0 4px }
${colourRules(mailColours.light)}
@media (prefers-color-scheme: dark) {${colourRules(mailColours.dark)}
}`;

export function renderConfirmationMail(site: MailedSite, token: string) {
  const toUrl = (path: string) => `${site.origin}${path}?${tokenParam}=${token}`;
  const urls = { confirmUrl: toUrl(confirmPath), leaveUrl: toUrl(leavePath) };
  return {
    subject: copy.subject,
    text: formatText(site, urls),
    html: `<!doctype html>\n${renderToStaticMarkup(<Mail site={site} {...urls} />)}\n`,
    leaveUrl: urls.leaveUrl,
  };
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

/** The logo as two boxes: mail readers block images until the reader asks for them. */
function Mark() {
  return (
    <span className="stem">
      <span className="leaf" />
    </span>
  );
}

function Mail({ site, confirmUrl, leaveUrl }: Urls & { site: MailedSite }) {
  const { controller, contact } = site;
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="supported-color-schemes" content="light dark" />
        <title>{copy.subject}</title>
        <style dangerouslySetInnerHTML={{ __html: styles }} />
      </head>
      <body className="page">
        <div className="card">
          <p className="product">
            <Mark /> {product.name}
          </p>
          <h1>{copy.heading}</h1>
          <p>{copy.text}</p>
          <p className="action">
            <a className="button" href={confirmUrl}>
              {copy.confirm}
            </a>
          </p>
          <p>{copy.next}</p>
          <p className="soft last">
            {copy.leaveText}{" "}
            <a className="link" href={leaveUrl}>
              {copy.leave}
            </a>
            . {describeInaction(site)}
          </p>
        </div>
        <div className="soft footer">
          {controller && <p>{controller}</p>}
          {contact && (
            <p className="last">
              {copy.contact}{" "}
              <a className="link" href={`mailto:${contact}`}>
                {contact}
              </a>
            </p>
          )}
        </div>
      </body>
    </html>
  );
}
