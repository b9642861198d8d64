// The SQL that creates, changes and drops an object of the site's schema.
import type { SchemaObject } from "./schema-objects.ts";

export function createStatements(object: SchemaObject): string[] {
  const { kind, table, name, definition } = object;
  const [first = "", state] = definition;
  switch (kind) {
    case "enum":
      return [`CREATE TYPE ${name} AS ENUM (${definition.join(", ")})`];
    case "table":
      return [`CREATE TABLE ${name} ()`];
    case "column":
      return withSequence(object, `ALTER TABLE ${table} ADD COLUMN ${name} ${definition.join(" ").trim()}`);
    case "constraint":
      return [`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${first}`];
    case "function": // Postgres lets every role execute a new function.
      return first.includes("SECURITY DEFINER") ? [first, `REVOKE ALL ON FUNCTION ${name} FROM PUBLIC`] : [first];
    case "trigger":
      return state === "ENABLE" ? [first] : [first, switchTrigger(object)];
    default:
      return [first];
  }
}

export function dropStatement({ kind, table, name }: SchemaObject): string {
  const keyword = kind === "enum" ? "TYPE" : kind.toUpperCase();
  if (kind === "column" || kind === "constraint") return `ALTER TABLE ${table} DROP ${keyword} ${name}`;
  const isNamedWithTable = kind === "trigger" || kind === "rule" || kind === "policy";
  return `DROP ${keyword} ${name}${isNamedWithTable ? ` ON ${table}` : ""}`;
}

/** Returns no statement if an enum has every expected value and others: Postgres cannot drop these. */
export function changeStatements(found: SchemaObject, expected: SchemaObject): string[] {
  const { kind, name, definition } = expected;
  switch (kind) {
    case "enum":
      return changeEnum(found, expected);
    case "function": // Postgres cannot drop a function that a trigger uses.
      return createStatements(expected);
    case "table":
      return [`ALTER TABLE ${name} ${definition.filter((part) => !found.definition.includes(part)).join(", ")}`];
    case "column":
      return changeColumn(found, expected);
    case "trigger":
      if (found.definition[0] === definition[0]) return [switchTrigger(expected)];
  }
  return [dropStatement(found), ...createStatements(expected)];
}

/** A missing value was renamed, as Postgres cannot drop one. */
function changeEnum(found: SchemaObject, { name, definition }: SchemaObject): string[] {
  const renamed = found.definition.filter((value) => !definition.includes(value));
  return definition
    .filter((value) => !found.definition.includes(value))
    .map(
      (value, index) =>
        `ALTER TYPE ${name} ${renamed[index] ? `RENAME VALUE ${renamed[index]} TO` : "ADD VALUE"} ${value}`,
    );
}

function switchTrigger({ table, name, definition }: SchemaObject): string {
  return `ALTER TABLE ${table} ${definition[1]} TRIGGER ${name}`;
}

function changeColumn(found: SchemaObject, expected: SchemaObject): string[] {
  const { table, name, definition } = expected;
  const [type = "", nullability, value] = definition;
  const [foundType, foundNullability, foundValue] = found.definition;
  const actions: string[] = [];
  const isOtherType = type !== foundType;
  const isOtherValue = isOtherType || value !== foundValue; // A default of the old type may not fit the new one.
  if (foundValue && isOtherValue) actions.push("DROP DEFAULT");
  // Without the length: Postgres refuses a value that is too long, where a cast would cut it.
  if (isOtherType) actions.push(`TYPE ${type} USING ${name}::${type.replace(/\(\d+\)/, "")}`);
  if (nullability !== foundNullability) actions.push(`${nullability === "NULL" ? "DROP" : "SET"} NOT NULL`);
  if (value && isOtherValue) actions.push(`SET ${value}`);
  return withSequence(
    expected,
    `ALTER TABLE ${table} ${actions.map((action) => `ALTER ${name} ${action}`).join(", ")}`,
  );
}

/** If the column's default is a sequence, creates it if it is missing, and lets it continue after the table's rows. */
function withSequence({ table, name, definition }: SchemaObject, statement: string): string[] {
  const sequence = /^DEFAULT nextval\('(.+)'::regclass\)$/.exec(definition[2] ?? "")?.[1];
  if (!sequence) return [statement];
  return [
    `CREATE SEQUENCE IF NOT EXISTS ${sequence}`,
    statement,
    `ALTER SEQUENCE ${sequence} OWNED BY ${table}.${name}`,
    `SELECT setval('${sequence}', coalesce(max(${name}), 0) + 1, false) FROM ${table}`,
  ];
}
