// The doctor's check of the schema: whether every table, column, trigger and so on is as the migrations make it.
import type pg from "pg";
import { compareObjects, type SchemaDifference } from "../../../database/schema-differences.ts";
import { readExpectedObjects, readObjects, type SchemaObject } from "../../../database/schema-objects.ts";
import { printable, printableLines } from "../../../operator-messages.ts";
import type { Finding } from "./finding.ts";

const what = "Objects";

/** Requires that every migration is applied. Returns whether every expected object is there and unchanged. */
export async function* examineObjects(owner: pg.Client): AsyncGenerator<Finding, boolean> {
  const expected = await readExpectedObjects();
  const differences = compareObjects(expected, await readObjects(owner));
  for (const difference of differences) {
    const text = printableLines(describe(difference));
    yield { verdict: isHarmless(difference) ? "warning" : "problem", what, text };
  }
  if (differences.length === 0) yield { verdict: "ok", what, text: countByKind(expected) };
  return differences.every(({ state }) => state === "unexpected");
}

function describe({ state, object, found }: SchemaDifference): string {
  const { kind, table, name } = object;
  // A line feed in the name of an unexpected object would let the name forge a line of advice.
  const subject = `${kind} ${printable(name)}${table ? ` of ${printable(table)}` : ""}`;
  const renamed = kind === "table" || kind === "column" ? " If it was renamed, rename it back." : "";
  if (state === "unexpected") {
    return `${subject} is unexpected: no migration of this version makes it.${renamed} If neither a newer version nor anybody else needs it, drop it.`;
  }
  const wanted = `It should be:\n${formatDefinition(object)}`;
  if (found) return `${subject} is changed. It is now:\n${formatDefinition(found)}\n${wanted}`;
  const lost = renamed || kind === "enum" ? " Its data is in a backup." : "";
  return `${subject} is missing.${renamed}${lost} ${wanted}`;
}

/** Returns a CREATE statement in a form that can be pasted: what the statement does not say follows in a comment. */
function formatDefinition({ definition }: SchemaObject): string {
  const [statement, state] = definition;
  if (!statement?.startsWith("CREATE ")) return indent(definition.filter(Boolean).join(", "));
  return indent(`${statement};${state && state !== "ENABLE" ? ` -- ${state}` : ""}`);
}

// printableLines replaces a tab by a question mark.
const indent = (text: string) => text.replaceAll("\t", "  ").replaceAll(/^/gm, "  ");

/** Whether rows need a value that only their INSERT can give. */
const isRequired = ({ kind, definition: [, nullability, value] }: SchemaObject) =>
  kind === "column" && nullability === "NOT NULL" && !value;

/** An unexpected object or enum value is harmless if it can neither change nor hide nor refuse sign-ups. */
function isHarmless({ state, object, found }: SchemaDifference): boolean {
  if (state === "missing") return false;
  if (state === "changed") {
    return object.kind === "enum" && object.definition.every((value) => found?.definition.includes(value));
  }
  if (object.kind === "column") return !isRequired(object);
  if (object.kind === "index") return !object.definition[0]?.startsWith("CREATE UNIQUE");
  return ["enum", "table", "sequence", "view", "materialized view"].includes(object.kind);
}

function countByKind(objects: SchemaObject[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of objects) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const plural = (kind: string) => `${kind.replace(/x$/, "xe").replace(/y$/, "ie")}s`;
  const texts = Array.from(counts, ([kind, count]) => `${count} ${count === 1 ? kind : plural(kind)}`);
  return `as the migrations make them: ${texts.join(", ")}`;
}
