// The colours of the confirmation mail, and what it says about an entry that nobody confirms. tests/process/mail.test.ts has the message that arrives.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectRoot } from "../project-root.ts";
import { mailColours, renderConfirmationMail } from "./confirmation-mail.tsx";

const site = { origin: "https://perennial.example", controller: undefined, contact: undefined, retentionMonths: 0 };

const tokens = readFileSync(join(projectRoot, "client/tokens.css"), "utf8");
const coloursOf = (css = "") =>
  Object.fromEntries(Array.from(css.matchAll(/--([\w-]+): (#\w+);/g), ([, name, colour]) => [name, colour as string]));
const [light, dark] = tokens.split("prefers-color-scheme: dark").map(coloursOf);
const colours: Record<string, Record<string, string>> = { light: { ...light }, dark: { ...light, ...dark } };

it("the confirmation mail has the colours of the page", () => {
  expect(colours).toMatchObject(mailColours);
});

/** Returns the relative luminance of WCAG 2.2. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\w\w/g) ?? []).map((hex) => {
    const value = parseInt(hex, 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

it.each(["light", "dark"])(
  "the %s colours of text have a contrast of 4.5, borders of fields and the focus ring of 3",
  (scheme) => {
    const texts =
      "ink/paper ink/surface ink/mint ink-soft/paper ink-soft/surface leaf/paper leaf/surface on-leaf/leaf on-leaf/leaf-strong";
    const panels =
      "on-bed/bed on-bed/bed-raised on-bed-soft/bed on-bed-soft/bed-raised on-bloom/bloom error/paper error/surface error/error-tint";
    const shapes =
      "control/paper control/surface leaf/paper leaf/surface bloom/bed bloom/bed-raised code-call/bed-raised code-result/bed-raised";
    const below = (pairs: string, least: number) =>
      pairs.split(" ").filter((pair) => {
        const [darker = 0, lighter = 0] = pair
          .split("/")
          .map((name) => luminance(colours[scheme]?.[name] ?? ""))
          .toSorted((a, b) => a - b);
        return (lighter + 0.05) / (darker + 0.05) < least;
      });
    expect([...below(`${texts} ${panels}`, 4.5), ...below(shapes, 3)]).toEqual([]);
  },
);

it.each([
  [0, "We keep an entry until early access ends."],
  [24, "We remove an entry 24 months after the sign-up, or when early access ends."],
])("the confirmation mail says what becomes of an entry that nobody confirms, kept for %i months", (months, words) => {
  const { text, html } = renderConfirmationMail({ ...site, retentionMonths: months }, "token");
  for (const part of [text, html.replaceAll("<!-- -->", "")])
    expect(part).toContain(`If you do nothing, the entry stays on the list, unconfirmed. ${words}`);
  expect(text + html).not.toMatch(/Questions|mailto:|undefined/); // Nobody is named.
});
