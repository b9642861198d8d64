// The apostrophes that keep spreadsheets from running a person's text as a formula: export adds them, import removes them.

/** Quotes do not count: a spreadsheet that splits a line at ";" may strip those that begin a piece. */
const formula = `['"]*[=+\\-@＝＋－＠]`;
/** At the start of a cell, or where a spreadsheet with another delimiter or without quotes sees a new cell. */
const start = String.raw`(?<![^;\t\r\n])`;

const unguarded = new RegExp(String.raw`${start}(?=${formula})|^(?='*[\t\r])`, "g");
const guarded = new RegExp(String.raw`${start}'(?=${formula})|^'(?='*[\t\r])`, "g");

/**
 * Puts an apostrophe before whatever a spreadsheet could run: = + - @ and their full-width forms at the start of the cell
 * or after ";", TAB or a line break, and a leading TAB or CR. Text that has such apostrophes already gets one more.
 * See https://owasp.org/www-community/attacks/CSV_Injection
 */
export function guard(cell: string): string {
  return cell.replaceAll(unguarded, "'");
}

/** Reverses guard. */
export function unguard(cell: string): string {
  return cell.replaceAll(guarded, "");
}
