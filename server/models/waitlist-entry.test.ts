// The validation of a sign-up: text, email addresses and spam flags.
import { expect, it } from "vitest";
import { parseEntry } from "./waitlist-entry.ts";

const parse = (changes: object) =>
  parseEntry({ name: "Ada", email: "ada@example.com", company: "Engines", ...changes });
const errorsOf = (changes: object) => {
  const result = parse(changes);
  return result.ok ? {} : result.errors;
};
const entryOf = (changes: object) => {
  const result = parse(changes);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.entry;
};

it("a text field is trimmed and normalised to NFC", () => {
  expect(entryOf({ name: "  Ame\u0301lie\u3000 " }).name).toBe("Amélie");
});

it.each(["\u0000", "a\nb", "a\u0085b", "a\ud800", "a\ufffd"])("a text field refuses %j", (name) => {
  expect(errorsOf({ name })).toEqual({ name: expect.stringContaining("cannot be stored") });
});

it.each(["שלום", "👩‍👩‍👧", "O'Brien; DROP TABLE"])("a text field accepts %j", (name) => {
  expect(entryOf({ name }).name).toBe(name);
});

it("a text field has a maximum length in code points, as in Postgres", () => {
  expect(entryOf({ name: "🚀".repeat(100) }).name).toHaveLength(200);
  expect(errorsOf({ name: "🚀".repeat(101) })).toEqual({ name: "Use at most 100 characters." });
});

it.each([
  [undefined, "Enter your name."],
  [null, "Enter your name."],
  [" ", "Enter your name."],
  [7, "This must be text."],
  [JSON.parse('{ "length": { "toString": 1, "valueOf": 1 } }'), "This must be text."],
])("the name %j is refused: %s", (name, error) => {
  expect(errorsOf({ name })).toEqual({ name: error });
});

it("an empty job title is null", () => {
  expect([undefined, null, " "].map((job_title) => entryOf({ job_title }).job_title)).toEqual([null, null, null]);
});

it.each([
  [undefined, false],
  ["", false],
  ["buy", true],
  [0, true],
])("an entry whose hidden field is %j has the flag suspected_spam = %s", (message, expected) => {
  expect(entryOf({ message }).suspected_spam).toBe(expected);
});

it.each([
  ["A@MAILINATOR.COM", true],
  ["a@any.mailinator.com", true],
  ["a@ourmailinator.dev", false],
  ["a@mailinator.com.example.com", false],
])("an entry with the address %s has the flag disposable_email = %s", (email, expected) => {
  expect(entryOf({ email })).toMatchObject({ suspected_spam: false, disposable_email: expected });
});

it.each([
  [" ADA@Example.COM ", "ada@example.com"],
  ["o'brien_!#$%&*/=?^`{|}~-+x@mail.example.co", "o'brien_!#$%&*/=?^`{|}~-+x@mail.example.co"],
  ["ada@münchen.de", "ada@xn--mnchen-3ya.de"],
  ["ADA@пример.рф", "ada@xn--e1afmkfd.xn--p1ai"],
  [`${"a".repeat(64)}@${"b".repeat(63)}.co`, `${"a".repeat(64)}@${"b".repeat(63)}.co`],
])("the email address %s is stored as %s", (email, stored) => {
  expect(entryOf({ email }).email).toBe(stored);
});

it.each([
  "ada",
  "ada@localhost",
  "a@b@example.com",
  ".ada@example.com",
  "a..b@example.com",
  "ada@-example.com",
  "ada@127.0.0.1",
  "ada lovelace@example.com",
  "ådå@example.com",
  "ada@münchen.de/evil",
  "ada@m%75nchen.рф",
  "ada@example.c",
  `ada@${"b".repeat(64)}.com`,
  `${"a".repeat(65)}@example.com`,
])("the email address %s is refused", (email) => {
  expect(errorsOf({ email })).toEqual({ email: "Enter an email address like name@example.com." });
});

it("an email address has a maximum length of 254 characters", () => {
  const label = `${"b".repeat(60)}.`;
  const email = (length: number) => `${"a".repeat(length - 4 * 61 - 4)}@${label.repeat(4)}com`;
  expect(entryOf({ email: email(254) }).email).toHaveLength(254);
  for (const long of [email(255), `a@${"ü.".repeat(40)}de`])
    expect(errorsOf({ email: long })).toEqual({ email: "Use at most 254 characters." });
});
