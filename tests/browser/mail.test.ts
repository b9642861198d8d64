// The confirmation mail in mail readers that drop its <body> or its <style>, on light and dark screens.
import axe from "axe-core";
import { expect, it } from "vitest";
import { renderConfirmationMail } from "../../server/mail/confirmation-mail.ts";
import { mailColours } from "../../server/mail/card.ts";
import { openPage } from "../support/browser.ts";

const { html } = renderConfirmationMail(
  {
    origin: "https://perennial.example",
    controller: "Perennial Ltd",
    contact: "hi@perennial.example",
    retentionMonths: 24,
    unconfirmedDays: 0,
  },
  "token",
);

/** Replaces the body by a <div> of the reader, as Outlook for Mac and Fastmail do. */
const withoutBody = (mail: string) =>
  mail.replace(/<body[^>]*>/, "<body style='background: #fff; color: #000'><div>").replace("</body>", "</div></body>");
const inDarkReader = (mail: string) =>
  withoutBody(mail).replace("background: #fff; color: #000", "background: #000; color: #fff");
const withoutStyles = (mail: string) => mail.replace(/<style>[^<]*<\/style>/, "");

it.each<[reader: string, change: (mail: string) => string]>([
  ["keeps everything", (mail) => mail],
  ["drops <style>", withoutStyles],
  ["drops <body>", withoutBody],
  ["drops <body>, and is black", inDarkReader],
  ["drops both, and is black", (mail) => withoutStyles(inDarkReader(mail))],
])("axe finds no fault in a mail, light and dark, in a reader that %s", async (_, change) => {
  const page = await openPage();
  await page.route("http://localhost/mail", (route) => route.fulfill({ contentType: "text/html", body: change(html) }));
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto("http://localhost/mail");
    await page.evaluate(axe.source);
    const { violations, passes } = await page.evaluate(async () => {
      const { axe: checker } = window as unknown as { axe: typeof axe };
      return checker.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] });
    });
    expect(violations.flatMap(({ nodes }) => nodes.map(({ failureSummary }) => failureSummary))).toEqual([]);
    expect(passes.find(({ id }) => id === "color-contrast")?.nodes.length).toBeGreaterThan(7);
  }
});

it.each(["light", "dark"] as const)(
  "the button of a mail is drawn in %s colours where a reader drops backgrounds, as Thunderbird does",
  async (colorScheme) => {
    const page = await openPage();
    await page.emulateMedia({ colorScheme });
    await page.setContent(html.replace(/background: [^;}]+;?/g, ""));
    const { leaf } = mailColours[colorScheme];
    const expected = await page.evaluate((colour) => {
      document.body.style.color = colour;
      return getComputedStyle(document.body).color;
    }, leaf);
    const drawn = page.locator(".button").evaluate((button) => {
      const { borderColor, borderStyle, borderWidth } = getComputedStyle(button);
      return [borderColor, borderStyle, borderWidth];
    });
    expect(await drawn).toEqual([expected, "solid", "2px"]);
  },
);
