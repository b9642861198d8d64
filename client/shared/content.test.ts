// The words and prices that are promised, and those that the law asks for: a change of these in content.ts or fields.ts changes this test, and no other.
import { expect, it } from "vitest";
import * as content from "./content.ts";
import {
  closedList,
  earlyAccess,
  errorPage,
  features,
  formFailure,
  hero,
  navigation,
  notFound,
  pricing,
  privacyPage,
  product,
} from "./content.ts";
import { fields } from "./fields.ts";
import { privacySections } from "./privacy-notice.ts";

it.each<[what: string, words: unknown, promised: unknown]>([
  ["the product", product.name, "Perennial"],
  ["the bar's button", navigation.join, "Get Early Access"],
  ["the first button", hero.button, "Sign up for early access"],
  ["the offer above it", hero.offer, expect.stringMatching(/early access, 3.months.free and a lifetime discount/)],
  ["the note below it", hero.note, "No commitment. Just early access and a first look."],
  ["the migration", features.migration.description, expect.stringMatching(/^Upload a document or spreadsheet/)],
  [
    "the form's fields, in order",
    fields.map(({ label }) => label),
    ["Name", "Email", "Company", "Job title (optional)"],
  ],
  ["the form's button", [earlyAccess.button, earlyAccess.sending], ["Get Early Access", "Joining..."]],
  ["the success", earlyAccess.success.title, "Welcome to the future! 🚀"],
  [
    "the success' text",
    earlyAccess.success.text,
    "You're now on the early access list. We'll notify you when we launch!",
  ],
  ["what comes next", earlyAccess.betaJoined.what, "The team will reach out once the Beta version is ready."],
  ["the failure", Object.values(earlyAccess.failure), ["Error", "Something went wrong. Please try again."]],
  [
    "the time to wait",
    [60, 61, 600].map(earlyAccess.wait),
    ["Try again in 1 minute.", "Try again in 2 minutes.", "Try again in 10 minutes."],
  ],
  [
    "the number of wrong fields",
    [1, 2, 5].map(formFailure.heading),
    ["Check one field", "Check two fields", "Check 5 fields"],
  ],
  ["the 404 page", Object.values(notFound), ["404", "Oops! Page not found", "Return to Home"]],
  ["the page of a fault", errorPage.heading, "Unexpected Application Error!"],
  ["the copyright line", product.copyright, "© 2025 Perennial"],
  ["the tagline", product.tagline, "Building the future of AI-powered customer relationships."],
  ["the founding offer", pricing.offer, "3 months free plus a lifetime discount."],
  [
    "the plans",
    pricing.plans.map((plan) => Object.values(plan)),
    [
      ["Starter Plan", "$299", "up to 5000", "20,000", "2,000"],
      ["Growth Plan", "$699", "up to 15000", "60,000", "6,000"],
      ["Scale", "$1999", "up to 40000", "150,000", "15,000"],
      ["Enterprise", "$1999+", "40000+", "custom cap", "custom cap"],
    ],
  ],
  [
    "what all plans include",
    pricing.all,
    ["Full access to CRM, loyalty and messaging", "No feature gating", "No implementation fees"],
  ],
])("the page says of %s what it promises", (_, words, promised) => {
  expect(words).toEqual(promised);
});

it("the columns of the hero's segment are among those that the spreadsheet's columns become", () => {
  const fieldNames = features.migration.columns.map(([, field]) => field);
  expect(fieldNames).toEqual(expect.arrayContaining(content.demo.examples[0]?.columns ?? []));
});

it("the texts of a closed list invite nobody", () => {
  expect(Object.values(closedList).join("\n")).not.toMatch(/\bjoin (?:the|our|now)|\bsign up\b|you join\b/i);
});

it.each<[what: string, text: string, parts: string[]]>([
  [
    "the limits against abuse",
    privacyPage.visit,
    ["home page is viewed", "each network address", "within 20 minutes after its latest request"],
  ],
  [
    "the legal basis",
    privacyPage.basis,
    ["you consent", "rest on our legitimate interest", "is voluntary", "fingerprint of a removed address"],
  ],
  ["the retention, if it has no limit", privacyPage.retention(0), ["until early access ends"]],
  ["the retention", privacyPage.retention(24), ["24 months after you signed up"]],
  ["the withdrawal", privacyPage.withdrawal, ["withdraw your consent at any time", "stays lawful"]],
  ["the objection", privacyPage.objection, ["object to what rests on our legitimate interest"]],
  [
    "the rights",
    privacyPage.rights,
    ["see your entry", "corrected or removed", "restrict its use", "get a copy", "data protection authority"],
  ],
])("the privacy page says of %s what the law asks for", (_, text, parts) => {
  for (const part of parts) expect(text).toContain(part);
});

it("no text of a page has a sign-up that a line could part at its hyphen", () => {
  const settings = { contact: "a@b.co", links: [], retentionMonths: 24, unconfirmedDays: 30 };
  const privacy = [true, false].map((mail) => privacySections({ ...settings, mail }));
  expect(JSON.stringify([{ ...content }, privacy]).match(/[^"]*sign-up[^"]*/gi)).toBeNull();
});
