// The colours of the confirmation mail, and what it says about an entry that nobody confirms. tests/process/mail.test.ts has the message that arrives.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../project-root.ts";
import { renderConfirmationMail } from "./confirmation-mail.ts";
import { mailColours } from "./mail-card.ts";

const site = { origin: "https://perennial.example", controller: undefined, contact: undefined, retentionMonths: 0 };

it("the confirmation mail has the colours of the page", () => {
  const tokens = readFileSync(join(projectRoot, "client/tokens.css"), "utf8");
  const [light = "", dark = ""] = tokens.split("prefers-color-scheme: dark");
  const colours = (css: string) =>
    Object.fromEntries(Array.from(css.matchAll(/--([\w-]+): (#\w+);/g), ([, name, colour]) => [name, colour]));
  expect({ light: colours(light), dark: colours(dark) }).toMatchObject(mailColours);
});

it.each([
  [0, "We keep an entry until early access ends."],
  [24, "We remove an entry 24 months after the sign-up, or when early access ends."],
])("the confirmation mail says what becomes of an entry that nobody confirms, kept for %i months", (months, words) => {
  const { text, html } = renderConfirmationMail({ ...site, retentionMonths: months }, "token");
  for (const part of [text, html]) {
    expect(part).toContain(`If you do nothing, the entry stays on the list, unconfirmed. ${words}`);
  }
  expect(text + html).not.toMatch(/Questions|mailto:|undefined/); // Nobody is named.
});
