// The text of a webhook for Slack: what a visitor typed stays text.
import fc from "fast-check";
import { expect, it } from "vitest";
import { readSource } from "../models/source.ts";
import { formatMessage } from "./webhook.ts";

const nothing = { id: "", created_at: new Date(0), ...readSource({}) };

it("formatMessage makes every text inert, whichever field it is in", () => {
  const unit = fc.oneof(fc.constantFrom(...Array.from("@#~:/.。．｡]([)!<>|&a\u2028 ")), fc.string({ maxLength: 1 }));
  const text = fc.string({ unit, minLength: 1 });
  const maybe = fc.option(text);
  const source = { utm_source: maybe, utm_medium: maybe, utm_campaign: maybe, utm_term: maybe, utm_content: maybe };
  const event = fc.record({ company: text, confirmed_at: fc.option(fc.date()), ...source, referrer_host: maybe });
  const property = fc.property(event, (visitors) => {
    const message = formatMessage({ ...nothing, ...visitors });
    expect(message).not.toMatch(/[<>\u2028\u2029]|[@#~:]\w|[:/]\/|\]\(|[.。．｡]\w|&(?!(amp|lt|gt);)/);
  });
  fc.assert(property, { numRuns: 2_000 });
});
