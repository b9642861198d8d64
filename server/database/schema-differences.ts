// Compares the site's schema objects with those that the migrations make.
import type { SchemaObject } from "./schema-objects.ts";

export interface SchemaDifference {
  state: "missing" | "changed" | "unexpected";
  /** As expected, or as found if it is unexpected. */
  object: SchemaObject;
  found?: SchemaObject;
}

/** In an order in which unexpected objects can be dropped and missing ones created. The parts of a missing or unexpected table are no differences of their own. */
export function compareObjects(expected: SchemaObject[], found: SchemaObject[]): SchemaDifference[] {
  const expectedByKey = byKey(expected);
  const foundByKey = byKey(found);
  const isPartOfMissing = isPartOfOne(expected.filter((object) => !foundByKey.has(key(object))));
  const isPartOfUnexpected = isPartOfOne(found.filter((object) => !expectedByKey.has(key(object))));
  const unexpected = found.flatMap((object): SchemaDifference[] => {
    if (expectedByKey.has(key(object)) || isPartOfUnexpected(object)) return [];
    return [{ state: "unexpected", object }];
  });
  const others = expected.flatMap((object): SchemaDifference[] => {
    if (isPartOfMissing(object)) return [];
    const counterpart = foundByKey.get(key(object));
    if (!counterpart) return [{ state: "missing", object }];
    if (isSame(object, counterpart)) return [];
    return [{ state: "changed", object, found: counterpart }];
  });
  return [...unexpected.toReversed(), ...others];
}

const key = ({ kind, table, name }: SchemaObject) => [kind, table, name].join(" ");
const byKey = (objects: SchemaObject[]) => new Map(objects.map((object) => [key(object), object]));

function isPartOfOne(tables: SchemaObject[]): (object: SchemaObject) => boolean {
  const names = new Set(tables.map(({ kind, name }) => kind === "table" && name));
  return ({ table }) => table !== null && names.has(table);
}

/** Ignores the indentation of a function's lines: it changes where a definition is copied from a terminal. */
function isSame(one: SchemaObject, other: SchemaObject): boolean {
  return withoutIndentation(one) === withoutIndentation(other);
}

const withoutIndentation = ({ definition }: SchemaObject) =>
  definition.map((part) => part.replaceAll(/^[ \t]+|[ \t\r]+$/gm, "")).join("\0");
