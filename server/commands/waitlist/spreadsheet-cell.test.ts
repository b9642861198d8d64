import fc from "fast-check";
import { expect, it } from "vitest";
import { guard, unguard } from "./spreadsheet-cell.ts";

it.each([
  ["=1", "'=1"],
  ["'=1", "''=1"],
  ["'quoted'", "'quoted'"],
  ["a=b+c-d@e", "a=b+c-d@e"],
  ["＝1", "'＝1"],
  ["＋1", "'＋1"],
  ["－1", "'－1"],
  ["＠1", "'＠1"],
  ["a;=1", "a;'=1"],
  ["a\t=1", "a\t'=1"],
  ["a\r=1", "a\r'=1"],
  ["a\n=1", "a\n'=1"],
  ["a;＝1;'-1", "a;'＝1;''-1"],
  ['a;"=1"', `a;'"=1"`],
  ["\t=1", "'\t'=1"],
  ["\r", "'\r"],
  ["\na", "\na"],
])("guards %j as %j", (cell, expected) => {
  expect(guard(cell)).toBe(expected);
  expect(unguard(expected)).toBe(cell);
});

const unit = fc.oneof(
  fc.constantFrom(...Array.from("'\";\t\r\n=+-@＝＋－＠a ")),
  fc.string({ unit: "grapheme", maxLength: 1 }),
);

it("guards every formula in any text, and unguard restores it", () => {
  const property = fc.property(fc.string({ unit }), (cell) => {
    expect(guard(cell)).not.toMatch(/(^|[;\t\r\n])"*[=+\-@＝＋－＠]|^[\t\r]/);
    expect(unguard(guard(cell))).toBe(cell);
  });
  // The report of a failure names its seed and path.
  fc.assert(property, { numRuns: 10_000 });
});
