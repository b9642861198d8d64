// The validation of a sign-up: text, email addresses and spam flags.
import { describe, expect, it } from "vitest";
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

describe("a text field", () => {
  it("is trimmed and normalised to NFC", () => {
    expect(entryOf({ name: "  Ame\u0301lie\u3000 " }).name).toBe("Amélie");
  });

  it.each(["\u0000", "a\u0007b", "a\nb", "a\u0085b", "a\ud800", "\udc00a", "a\ufffd"])("refuses %j", (name) => {
    expect(errorsOf({ name })).toEqual({ name: expect.stringContaining("cannot be stored") });
  });

  it.each(["שלום", "e\u0323\u0302", "👩‍👩‍👧", "O'Brien; DROP TABLE", "\u202eabc"])("accepts %j", (name) => {
    expect(entryOf({ name }).name).toBe(name.normalize("NFC"));
  });

  it("has a maximum length in code points, as in Postgres", () => {
    expect(entryOf({ name: "🚀".repeat(100) }).name).toHaveLength(200);
    expect(errorsOf({ name: "🚀".repeat(101) })).toEqual({ name: "Use at most 100 characters." });
    expect(entryOf({ company: "x".repeat(200) }).company).toHaveLength(200);
    expect(errorsOf({ company: "x".repeat(201) })).toEqual({ company: "Use at most 200 characters." });
  });

  it.each([undefined, null, "", "  ", "\ufeff"])("is missing if it is %j", (name) => {
    expect(errorsOf({ name })).toEqual({ name: "Enter your name." });
  });

  it.each([1, true, ["Ada"], { toString: "Ada" }])("refuses %j, which is not text", (name) => {
    expect(errorsOf({ name })).toEqual({ name: "This must be text." });
  });

  it("is null if it is an empty job title", () => {
    expect([undefined, null, " "].map((job_title) => entryOf({ job_title }).job_title)).toEqual([null, null, null]);
  });
});

describe("an entry", () => {
  it.each([undefined, null, ""])("has no flag if the hidden field is %j", (message) => {
    expect(entryOf({ message })).toMatchObject({ suspected_spam: false, disposable_email: false });
  });

  it.each(["buy", " ", 0, false, [], {}])("is flagged as suspected spam if the hidden field is %j", (message) => {
    expect(entryOf({ message }).suspected_spam).toBe(true);
  });

  it.each(["a@mailinator.com", "A@MAILINATOR.COM", "a@any.mailinator.com"])(
    "is flagged as disposable if the address is %s",
    (email) => {
      expect(entryOf({ email })).toMatchObject({ suspected_spam: false, disposable_email: true });
    },
  );

  it.each(["a@gmail.com", "a@ourmailinator.dev", "a@mailinator.com.example.com"])(
    "is not flagged as disposable if the address is %s",
    (email) => {
      expect(entryOf({ email }).disposable_email).toBe(false);
    },
  );
});

describe("an email address", () => {
  it.each([
    ["ADA@Example.COM", "ada@example.com"],
    [" ada@example.com ", "ada@example.com"],
    ["a.b+c@mail.example.co", "a.b+c@mail.example.co"],
    ["o'brien_!#$%&*/=?^`{|}~-@example.com", "o'brien_!#$%&*/=?^`{|}~-@example.com"],
    ["ada@münchen.de", "ada@xn--mnchen-3ya.de"],
    ["ada@example.рф", "ada@example.xn--p1ai"],
    [`${"a".repeat(64)}@example.com`, `${"a".repeat(64)}@example.com`],
  ])("%s becomes %s", (email, stored) => {
    expect(entryOf({ email }).email).toBe(stored);
  });

  it.each([
    "ada",
    "@example.com",
    "ada@",
    "ada@localhost",
    "a@b@example.com",
    ".ada@example.com",
    "ada.@example.com",
    "a..b@example.com",
    "ada@-example.com",
    "ada@example..com",
    "ada@127.0.0.1",
    "ada@[127.0.0.1]",
    "ada lovelace@example.com",
    "ådå@example.com",
    '"ada"@example.com',
    "ada@exa%6dple.com",
    "ada@münchen.de/evil",
    "ada@münchen.de?x=1",
    "ada@münchen.de#x",
    "ada@münchen.de\\x",
    "ada@m%75nchen.рф",
    `${"a".repeat(65)}@example.com`,
    `ada@${"b".repeat(64)}.com`,
  ])("%s is refused", (email) => {
    expect(errorsOf({ email })).toEqual({ email: "Enter an email address like name@example.com." });
  });

  it("has a maximum length of 254 characters", () => {
    const label = `${"b".repeat(60)}.`;
    const email = (length: number) => `${"a".repeat(length - 4 * 61 - 4)}@${label.repeat(4)}com`;
    expect(entryOf({ email: email(254) }).email).toHaveLength(254);
    expect(errorsOf({ email: email(255) })).toEqual({ email: "Use at most 254 characters." });
  });
});
