// The apostrophes of export, added by Postgres, and their removal by import.
import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { queryAs } from "../../tests/support/postgres.ts";
import { guard, unguard } from "./exported-list.ts";

async function guardAll(cells: string[]): Promise<string[]> {
  const sql = `SELECT ${guard("cell")} AS guarded FROM unnest($1::text[]) WITH ORDINALITY AS list(cell, i) ORDER BY i`;
  const rows = await queryAs(inject("superuserUrl"), sql, [cells]);
  return rows.map(({ guarded }) => guarded as string);
}

it.each([
  ["=1", "'=1"],
  ["'=1", "''=1"],
  ["'quoted'", "'quoted'"],
  ["a=b+c-d@e", "a=b+c-d@e"],
  ["＝1", "'＝1"],
  ["a\t=1", "a\t'=1"],
  ['a;"=1"', `a;'"=1"`],
  ["\r", "'\r"],
])("export guards %j as %j", async (cell, expected) => {
  expect(await guardAll([cell])).toEqual([expected]);
  expect(unguard(expected)).toBe(cell);
});

const unit = fc.oneof(
  fc.constantFrom(...Array.from("'\";\t\r\n=+-@＝＋－＠a \\\u0085")),
  fc.string({ unit: "grapheme", maxLength: 1 }),
);

it("export guards every formula in any text, and unguard restores the text", async () => {
  const texts = fc.array(fc.string({ unit }), { minLength: 1000, maxLength: 1000, size: "max" });
  const property = fc.asyncProperty(texts, async (cells) => {
    const guarded = await guardAll(cells);
    for (const cell of guarded) expect(cell).not.toMatch(/(^|[;\t\r\n])"*[=+\-@＝＋－＠]|^[\t\r]/);
    expect(guarded.map(unguard)).toEqual(cells);
  });
  // The report of a failure names its seed.
  await fc.assert(property, { numRuns: 10, endOnFailure: true });
});
