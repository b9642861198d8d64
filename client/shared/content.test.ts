// The words and prices that are promised: a change of these in content.ts or fields.ts changes this test, and no other.
import { expect, it } from "vitest";
import { earlyAccess, errorPage, hero, navigation, notFound, pricing, product } from "./content.ts";
import { fields } from "./fields.ts";

it.each<[what: string, words: unknown, promised: unknown]>([
  ["the product", product.name, "Perennial"],
  ["the bar's button", navigation.join, "Get Early Access"],
  ["the first button", hero.button, "Sign up for early access"],
  ["the note below it", hero.note, "No commitment. Just early access and a first look."],
  [
    "the form's fields, in order",
    fields.map(({ label }) => label),
    ["Name", "Email", "Company", "Job title (optional)"],
  ],
  [
    "the form's optional fields",
    fields.filter(({ required }) => !required).map(({ label }) => label),
    ["Job title (optional)"],
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
