// Keeps a spreadsheet from taking a person's text for a formula: export puts an apostrophe before it, import takes it away.

/**
 * A column as the export writes it. What begins with = + - @, TAB or CR gets a leading apostrophe (OWASP, "CSV
 * Injection"), and so does what an import would otherwise take for such text.
 */
export function guardedColumn(column: string): string {
  // By the first character's number, as a regular expression for every cell would cost a quarter of the export's rate.
  const startsFormula = `ascii(${column}) IN (61, 43, 45, 64, 9, 13)`;
  const startsGuarded = String.raw`ascii(${column}) = 39 AND ${column} ~ '^''+[=+@\t\r-]'`;
  return `CASE WHEN ${startsFormula} OR ${startsGuarded} THEN '''' || ${column} ELSE ${column} END AS ${column}`;
}

/** Takes the apostrophe away again. */
export function unguard(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
}
