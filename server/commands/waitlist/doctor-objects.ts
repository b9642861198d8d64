// The doctor's check of the schema: whether every table, column, trigger and so on is as the migrations make it.
import type pg from "pg";
import { compareObjects, type SchemaDifference } from "../../database/schema-differences.ts";
import { readExpectedObjects, readObjects, type SchemaObject } from "../../database/schema-objects.ts";
import { printable, printableLines } from "../../printable.ts";
import type { Finding } from "./finding.ts";

const what = "Objects";

/** Requires that every migration is applied. Returns whether every expected object is there and unchanged. */
export async function* examineObjects(owner: pg.Client, ownerRole: string): AsyncGenerator<Finding, boolean> {
  const expected = await readExpectedObjects();
  const differences = compareObjects(expected, await readObjects(owner));
  for (const difference of differences) {
    const text = printableLines(describe(difference, `As "${printable(ownerRole)}", run:`));
    yield { verdict: isHarmless(difference) ? "warning" : "problem", what, text };
  }
  if (differences.length === 0) yield { verdict: "ok", what, text: countByKind(expected) };
  return differences.every(({ state }) => state === "unexpected");
}

function describe(difference: SchemaDifference, instruction: string): string {
  const { state, object, statements } = difference;
  const name = [object.kind, object.name, ...(object.table ? ["of", object.table] : [])].join(" ");
  const advice = [instruction, ...statements.map((statement) => indent(`${statement};`))].join("\n");
  if (state === "unexpected") {
    return `${name} is unexpected: no migration of this version makes it. ${hintOfRenaming(object)}If neither a newer version nor anybody else needs it, drop it. ${advice}`;
  }
  const repair =
    statements.length > 0 ? advice : `${hintOfRenaming(object)}Its SQL is in prisma/migrations, its data in a backup.`;
  if (state === "missing") return `${name} is missing. ${repair}`;
  const [now, wanted] = [difference.found as SchemaObject, object].map(({ definition }) =>
    indent(definition.filter(Boolean).join(", ")),
  );
  return `${name} is changed. It is now:\n${now}\n${statements.length > 0 ? advice : `It should be:\n${wanted}`}`;
}

// printableLines replaces a tab by a question mark.
const indent = (text: string) => text.replaceAll("\t", "  ").replaceAll(/^/gm, "  ");

const hintOfRenaming = ({ kind }: SchemaObject) =>
  kind === "table" || kind === "column" ? "If it was renamed, rename it back. " : "";

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
