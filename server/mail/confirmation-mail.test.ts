// The colours of the confirmation mail, and what it says about an entry that nobody confirms. tests/process/mail.test.ts has the message that arrives.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { confirmationMail, privacyPage } from "../../client/shared/content.ts";
import { decodeHtml } from "../../tests/support/copy.ts";
import { projectRoot } from "../config/project-root.ts";
import { renderConfirmationMail } from "./confirmation-mail.ts";
import { html as tag } from "../views/document.ts";
import { mailColours } from "./card.ts";

const site = {
  origin: "https://perennial.example",
  controller: undefined,
  contact: undefined,
  retentionMonths: 0,
  unconfirmedDays: 0,
};

it("the confirmation mail has the colours of the page", () => {
  const tokens = readFileSync(join(projectRoot, "client/tokens.css"), "utf8");
  const [light = "", dark = ""] = tokens.split("prefers-color-scheme: dark");
  const colours = (css: string) =>
    Object.fromEntries(Array.from(css.matchAll(/--([\w-]+): (#\w+);/g), ([, name, colour]) => [name, colour]));
  expect({ light: colours(light), dark: colours(dark) }).toMatchObject(mailColours);
});

it.each([0, 24])(
  "the confirmation mail says what becomes of an entry that nobody confirms, kept for %i months",
  (months) => {
    const { text, html } = renderConfirmationMail({ ...site, retentionMonths: months }, "token");
    for (const part of [text, decodeHtml(html)]) {
      expect(part).toContain(`${confirmationMail.otherwise} ${privacyPage.retention(months)}`);
      expect(part).not.toContain(confirmationMail.contact); // Nobody is named.
      expect(part).not.toMatch(/mailto:|undefined/);
    }
  },
);

it.each([
  { controller: "Ada Ltd", contact: undefined },
  { controller: undefined, contact: "ada@example.com" },
])("the confirmation mail names who is known of the controller and the contact: %o", (named) => {
  const { text, html } = renderConfirmationMail({ ...site, ...named }, "token");
  for (const part of [text, decodeHtml(html)]) {
    expect(part).toContain(named.controller ?? named.contact);
    expect(part).not.toContain("undefined");
  }
});

it.each([7, 14])("the confirmation mail says that an entry that nobody confirms is deleted after %i days", (days) => {
  const { text, html } = renderConfirmationMail({ ...site, retentionMonths: 24, unconfirmedDays: days }, "token");
  for (const part of [text, decodeHtml(html)]) {
    expect(part).toContain(confirmationMail.otherwiseDeleted(days));
    expect(part).toContain(` ${days} `);
    expect(part).not.toContain(confirmationMail.otherwise);
    expect(part).not.toContain(privacyPage.retention(24));
  }
});

it("HTML escapes every value but HTML, also in lists and attributes", () => {
  const hostile = `<b>"&'`;
  const link = tag`<a title="${hostile}">${[hostile, tag`<br>`]}</a>`;
  expect(tag`<p>${link}</p>`.toString()).toBe(`<p><a title="&lt;b&gt;&quot;&amp;'">&lt;b&gt;&quot;&amp;'<br></a></p>`);
});
