// Keeps a spreadsheet from taking a person's text for a formula: export puts an apostrophe before it, import takes it away.

/**
 * What begins with = + - @, TAB or CR gets a leading apostrophe (OWASP, "CSV Injection"), and so does what an import would
 * otherwise take for such text.
 */
export function guard(cell: string): string {
  return /^'*[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}

/** Takes the apostrophe away again. */
export function unguard(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
}
