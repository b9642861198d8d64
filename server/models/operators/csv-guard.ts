// The apostrophes that keep spreadsheets from running a cell of a CSV file as a formula: export adds them, import takes them away.
import pg from "pg";

/** A spreadsheet that splits a line at ";" may drop quotes at the start of a cell. */
const formula = String.raw`['"]*[=+\-@＝＋－＠]`;
/** The start of a cell, also for a spreadsheet that uses another delimiter or ignores quotes. */
const start = String.raw`(?<![^;\t\r\n])`;

const unguarded = String.raw`${start}(?=${formula})|^(?='*[\t\r])`;
const guarded = new RegExp(String.raw`${start}'(?=${formula})|^'(?='*[\t\r])`, "g");

/**
 * Returns the SQL expression that puts an apostrophe before whatever a spreadsheet could run: = + - @ and their full-width
 * forms at the start of the cell or after ";", TAB or a line break, and a leading TAB or CR. Text that has such
 * apostrophes already gets one more. See https://owasp.org/www-community/attacks/CSV_Injection
 */
export function guard(column: string): string {
  return `regexp_replace(${column}, ${pg.escapeLiteral(unguarded)}, '''', 'g')`;
}

export function unguard(cell: string): string {
  return cell.replaceAll(guarded, "");
}
