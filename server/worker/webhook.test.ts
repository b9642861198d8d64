// The text of a webhook for Slack: what a visitor typed stays text.
import fc from "fast-check";
import { expect, it } from "vitest";
import { readSource } from "../models/source.ts";
import { formatMessage } from "./webhook.ts";

const nothing = { id: "", created_at: new Date(0), confirmed_at: null, ...readSource({}) };
const describeCompany = (company: string) =>
  formatMessage({ ...nothing, company }).slice("Somebody from ".length, -" joined the early access list.".length);

it.each([
  ["https://evil.com/a", "https:·/·/·evil.·com/·a"],
  ["mailto:a@evil.com", "mailto:·a@·evil.·com"],
  ["[Log in](evil)", "[Log in]·(evil)"],
  ["<evil|Log in>", "&lt;evil|Log in&gt;"],
  ["&lt;!channel&gt;", "&amp;lt;!channel&amp;gt;"],
  ["~town a\u2028b\u2029c", "~·town a b c"],
  ["Acme Inc. & Co.", "Acme Inc. &amp; Co."],
])("formatMessage makes %j inert", (company, expected) => {
  expect(describeCompany(company).replaceAll("\u200B", "·")).toBe(expected);
});

it("formatMessage makes every text inert, whichever field it is in", () => {
  const unit = fc.oneof(fc.constantFrom(...Array.from("@#~:/.]([)!<>|&a\u2028 ")), fc.string({ maxLength: 1 }));
  const text = fc.string({ unit, minLength: 1 });
  const property = fc.property(text, text, text, text, (company, utm_source, utm_campaign, referrer_host) => {
    const message = formatMessage({ ...nothing, company, utm_source, utm_campaign, referrer_host });
    expect(message).not.toMatch(/[<>\u2028\u2029]|[@#~:]\w|[:/]\/|\]\(|\.\w|&(?!(amp|lt|gt);)/);
  });
  fc.assert(property, { numRuns: 2_000 });
});
