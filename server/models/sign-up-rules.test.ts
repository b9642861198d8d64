// The validation of a sign-up: text, email addresses and suspected spam.
import { expect, it } from "vitest";
import { fieldErrors } from "../../client/shared/content.ts";
import { fieldNamed } from "../../tests/support/copy.ts";
import { parseEntry, type WaitlistEntry } from "./sign-up-rules.ts";

const parse = (changes: object): { ok: boolean; entry?: WaitlistEntry; errors?: object } =>
  parseEntry({ name: "Ada", email: "ada@example.com", company: "Engines", ...changes });

it.each([
  ...[undefined, null, " "].map((name) => [name, fieldErrors.required(fieldNamed("name").noun)]),
  ...[7, JSON.parse('{ "length": { "toString": 1, "valueOf": 1 } }')].map((name) => [name, fieldErrors.notText]),
  ...["\u0000", "a\nb", "a\u0085b", "a\ud800", "a\ufffd"].map((name) => [name, fieldErrors.unstorable]),
  ["🚀".repeat(101), fieldErrors.tooLong(100)],
])("the name %j is refused: %s", (name, error) => {
  expect(parse({ name })).toEqual({ ok: false, errors: { name: error } });
});

it.each([
  ...["שלום", "👩‍👩‍👧", "O'Brien; DROP TABLE", "🚀".repeat(100)].map((name) => [name, name]),
  ["  Ame\u0301lie\u3000 ", "Amélie"],
  ["\tAda\tLove\vlace\f", "Ada Love lace"],
])("the name %j is stored as %j, trimmed and in NFC", (name, stored) => {
  expect(parse({ name }).entry?.name).toBe(stored);
});

it("an empty job title is null", () => {
  expect([undefined, null, " "].map((job_title) => parse({ job_title }).entry?.job_title)).toEqual([null, null, null]);
});

it.each([
  [undefined, false],
  ["", false],
  ["buy", true],
  [0, true],
])("an entry whose hidden field is %j has the flag suspected_spam = %s", (message, expected) => {
  expect(parse({ message }).entry?.suspected_spam).toBe(expected);
});

it.each([
  [" ADA@Example.COM ", "ada@example.com"],
  ["o'brien_!#$%&*/=?^`{|}~-+x@mail.example.co", "o'brien_!#$%&*/=?^`{|}~-+x@mail.example.co"],
  ["\u200B\u2068\u00A0ada\u00A0@\u3000exam\u00ADple.com\u2069\uFEFF", "ada@example.com"],
  ["ａ。ｄ｡ａ＠ｅｘａｍｐｌｅ．ｃｏ。ｊｐ", "a.d.a@example.co.jp"],
  ["a\u200Dda@क्‍ष.com", "ada@xn--11b2ezcw70k.com"],
  ["ada@münchen.de", "ada@xn--mnchen-3ya.de"],
  ["ADA@пример.рф", "ada@xn--e1afmkfd.xn--p1ai"],
  [`${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}`, `${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}`],
])("the email address %s is stored as %s", (email, stored) => {
  expect(parse({ email }).entry?.email).toBe(stored);
});

const refused =
  "ada ada@localhost a@b@example.com .ada@example.com a..b@example.com ada@-example.com ada@127.0.0.1 ådå@example.com " +
  "ada@münchen.de/evil ada@münchen.de\\evil ada@münchen.de:80 ada@m%75nchen.рф ada@example.c " +
  "adaª@example.com ada@exam\u200Dple.com";
const tooLong = [`ada@${"b".repeat(64)}.com`, `${"a".repeat(65)}@example.com`];

it.each([...refused.split(" "), "ada lovelace@example.com", ...tooLong])("the email address %s is refused", (email) => {
  expect(parse({ email }).errors).toEqual({ email: fieldErrors.email });
});

it("an email address has a maximum length of 254 characters", () => {
  const label = `${"b".repeat(60)}.`;
  const email = (length: number) => `${"a".repeat(length - 4 * 61 - 4)}@${label.repeat(4)}com`;
  expect(parse({ email: email(254) }).entry?.email).toHaveLength(254);
  for (const long of [email(255), `a@${"ü.".repeat(40)}de`]) {
    expect(parse({ email: long }).errors).toEqual({ email: fieldErrors.tooLong(254) });
  }
});
