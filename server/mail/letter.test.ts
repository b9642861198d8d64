// Which files are the text of a mailing, how they are read, and what in them is a link.
import { expect, it } from "vitest";
import { parseMailingText, readMailingText, splitLinks } from "./letter.ts";

const read = (file: string | Buffer) => parseMailingText(readMailingText(Buffer.from(file)));
const subject = "Subject: Hello";

it.each<[what: string, file: string | Buffer, message: RegExp]>([
  ["is larger than 20 KB", `${subject}\n\n${"ä".repeat(10_240)}`, /^The text is larger than 20 KB \(20,480 bytes\): /],
  ["is Latin-1", Buffer.from(`${subject}\n\nKäse`, "latin1"), /^The text is not UTF-8: /],
  ["is UTF-16 without a byte order mark", Buffer.from(`${subject}\n\nHi`, "utf16le"), /^The text is not UTF-8: /],
  ["was decoded wrongly before", `${subject}\n\nK\uFFFDse`, /^The text is not UTF-8: /],
  ["has no subject", "Hi there,\n\nWe are open.", /^Line 1 must be "Subject: " and 1 to 150 characters\.$/],
  ["has an empty subject", "Subject: \n\nHi", /^Line 1 must be /],
  ["has a subject of 151 characters", `Subject: ${"🌱".repeat(151)}\n\nHi`, /^Line 1 must be /],
  ["has a subject below another header", `From: Ada\n${subject}\n\nHi`, /^Line 1 must be /],
  ["has no empty line below the subject", `${subject}\nHi`, /^Line 2 must be empty: /],
  ["has no text", `${subject}\n\n \t\n\n`, /^There is no text: /],
  ["has nothing below the subject", subject, /^There is no text: /],
  ["has a placeholder", `${subject}\n\nHi {{ name }},`, /^There are no placeholders: write Hi there, instead /],
  ["has a placeholder in its subject", "Subject: {{name}}\n\nHi", /^There are no placeholders: /],
  ["has a placeholder of Mailchimp", `${subject}\n\nHi *|FNAME|*,`, /^There are no placeholders: /],
  ["has a placeholder of Liquid", `${subject}\n\n{% if name %}Hi{% endif %}`, /^There are no placeholders: /],
])("a file that %s is refused in one sentence", (_, file, message) => {
  expect(() => read(file)).toThrow(expect.objectContaining({ name: "OperatorError" }) as Error);
  expect(() => read(file)).toThrow(message);
  expect(() => read(file)).not.toThrow(/\n/);
});

it("a file may have a byte order mark, line breaks of Windows, 20 KB, and a subject of 150 characters", () => {
  const long = "🌱".repeat(150);
  expect(read(`\uFEFFSubject: ${long}\r\n \r\nOne  \r\ntwo\r\n\t\r\n\r\n  Three\r\n`)).toEqual({
    subject: long,
    paragraphs: [{ text: "One\ntwo" }, { text: "  Three" }],
  });
  const text = "a".repeat(20_480 - subject.length - 2);
  expect(read(`${subject}\n\n${text}`).paragraphs).toEqual([{ text }]);
});

it("a line that mail programs take for the start of a signature is none", () => {
  expect(readMailingText(Buffer.from(`${subject}\n\nHi\n\n-- \nAda`))).not.toContain("-- ");
});

it.each([
  ["[Try it](https://a.example/x?y=1)", { label: "Try it", url: "https://a.example/x?y=1" }],
  ["[A [b] (c)](https://a.example/Tree_(botany))", { label: "A [b] (c)", url: "https://a.example/Tree_(botany)" }],
  ["[Try it](http://a.example)", undefined],
  ["[Try it](https://)", undefined],
  ["[Try it](https://a.example) now", undefined],
  ["[Try it](https://a.example)\nnow", undefined],
  ["[](https://a.example)", undefined],
])("the paragraph “%s” is read as a button: %o", (paragraph, button) => {
  expect(read(`${subject}\n\n${paragraph}`).paragraphs).toEqual([button ?? { text: paragraph }]);
});

it.each([
  ["Look at https://a.example.", ["https://a.example"]],
  ["(see https://a.example/x?y=1&z=2), or", ["https://a.example/x?y=1&z=2"]],
  ["[see https://a.example/x] {https://b.example/}", ["https://a.example/x", "https://b.example/"]],
  ["https://a.example/Tree_(botany), https://b.example!", ["https://a.example/Tree_(botany)", "https://b.example"]],
  [
    "https://a.example: https://b.example; https://c.example?",
    ["https://a.example", "https://b.example", "https://c.example"],
  ],
  ["[here](https://a.example).", ["https://a.example"]],
  ["<https://a.example> “https://b.example/ä”", ["https://a.example", "https://b.example/ä"]],
  ["http://a.example a.example ada@a.example javascript:alert(1) https://", []],
])("the links of “%s” are %o", (text, links) => {
  const parts = splitLinks(text);
  expect(parts.filter(({ isLink }) => isLink).map((part) => part.text)).toEqual(links);
  expect(parts.map((part) => part.text).join("")).toBe(text);
});
