// The text of a webhook for Slack: what a visitor typed stays text.
import fc from "fast-check";
import { expect, it } from "vitest";
import { readSource } from "../models/source.ts";
import { formatMessage } from "./webhook.ts";

const nothing = { id: "", created_at: new Date(0), confirmed_at: null, ...readSource({}) };

it("formatMessage makes every text inert, whichever field it is in", () => {
  const unit = fc.oneof(fc.constantFrom(...Array.from("@#~:/.。．｡]([)!<>|&a\u2028 ")), fc.string({ maxLength: 1 }));
  const text = fc.string({ unit, minLength: 1 });
  const property = fc.property(text, text, text, text, (company, utm_source, utm_campaign, referrer_host) => {
    const message = formatMessage({ ...nothing, company, utm_source, utm_campaign, referrer_host });
    expect(message).not.toMatch(/[<>\u2028\u2029]|[@#~:]\w|[:/]\/|\]\(|[.。．｡]\w|&(?!(amp|lt|gt);)/);
  });
  fc.assert(property, { numRuns: 2_000 });
});
