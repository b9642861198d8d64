// Messages and text that are safe to write to a terminal.
import fc from "fast-check";
import { expect, it } from "vitest";
import { explain, OperatorError, printable, printableLines } from "./errors.ts";
import { listNames } from "./commands/waitlist/files.ts";

it.each([
  ["\u001B[2J", "?[2J"],
  ["\u202Egnp.exe", "?gnp.exe"],
  ["Zoë 東京 🚀", "Zoë 東京 🚀"],
  ["علی\u200Cرضا 👩\u200D🔬", "علی\u200Cرضا 👩\u200D🔬"],
])("a message for operators prints %j as %j", (value, expected) => {
  expect(printable(value)).toBe(expected);
});

it("a message for operators replaces every invisible character, in any text", () => {
  const text = fc.string({ unit: fc.nat(0x10_ffff).map((code) => String.fromCodePoint(code)) });
  const property = fc.property(text, fc.array(text, { maxLength: 25 }), (value, names) => {
    for (const printed of [printable(value), listNames(names)]) {
      expect(printed.replaceAll(/[\u200C\u200D]/g, "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }
    expect(printableLines(value).split("\n")).toEqual(value.split("\n").map(printable));
  });
  fc.assert(property, { numRuns: 2_000 });
});

it("a message for operators explains every error without control characters, and keeps the line breaks of the message", () => {
  expect(explain(new OperatorError("one\u001B[31m\ntwo"))).toBe("one?[31m\ntwo");
  expect(explain(new Error("\u001B[31m"))).toMatch(/^Error: \?\[31m\n {4}at /);
});
