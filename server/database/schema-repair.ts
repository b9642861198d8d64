// The SQL that creates, changes and drops an object of the site's schema that holds no data.
import type { SchemaObject } from "./schema-objects.ts";

/** Returns no statement for a table, a column or an enum: SQL would not bring back its data. */
export function createStatements(object: SchemaObject): string[] {
  const { kind, table, name, definition } = object;
  const [first = "", state] = definition;
  switch (kind) {
    case "constraint":
      return [`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${first}`];
    case "function": // Postgres lets every role execute a new function.
      return first.includes("SECURITY DEFINER") ? [first, `REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`] : [first];
    case "trigger":
      return state === "ENABLE" ? [first] : [first, switchTrigger(object)];
    case "index":
      return [first];
    default:
      return [];
  }
}

export function dropStatement({ kind, table, name }: SchemaObject): string {
  const keyword = kind === "enum" ? "TYPE" : kind.toUpperCase();
  if (kind === "column" || kind === "constraint") return `ALTER TABLE ${table} DROP ${keyword} ${name}`;
  const isNamedWithTable = kind === "trigger" || kind === "rule" || kind === "policy";
  return `DROP ${keyword} ${name}${isNamedWithTable ? ` ON ${table}` : ""}`;
}

export function changeStatements(found: SchemaObject, expected: SchemaObject): string[] {
  const created = createStatements(expected);
  if (created.length === 0 || expected.kind === "function") return created; // Postgres cannot drop a function that a trigger uses.
  const isOnlySwitched = expected.kind === "trigger" && found.definition[0] === expected.definition[0];
  return isOnlySwitched ? [switchTrigger(expected)] : [dropStatement(found), ...created];
}

function switchTrigger({ table, name, definition }: SchemaObject): string {
  return `ALTER TABLE ${table} ${definition[1]} TRIGGER ${name}`;
}
