// The apostrophes that keep spreadsheets from running text as a formula: export adds them in SQL, import removes them.
import pg from "pg";

/** A spreadsheet that splits a line at ";" may drop quotes at the start of a cell. */
const formula = String.raw`['"]*[=+\-@＝＋－＠]`;
/** The start of a cell, also for a spreadsheet that uses another delimiter or ignores quotes. */
const start = String.raw`(?<![^;\t\r\n])`;

const unguarded = String.raw`${start}(?=${formula})|^(?='*[\t\r])`;
const guarded = new RegExp(String.raw`${start}'(?=${formula})|^'(?='*[\t\r])`, "g");

/** Matches every cell that `unguarded` matches, at a third of the cost: Postgres is slow with look-around. */
const suspicious = String.raw`(^|[;\t\r\n])['"]*[=+\-@＝＋－＠\t\r]`;

/**
 * Returns the SQL expression that puts an apostrophe before whatever a spreadsheet could run: = + - @ and their full-width
 * forms at the start of the cell or after ";", TAB or a line break, and a leading TAB or CR. Text that has such
 * apostrophes already gets one more. See https://owasp.org/www-community/attacks/CSV_Injection
 */
export function guard(column: string): string {
  const [check, place] = [suspicious, unguarded].map((pattern) => pg.escapeLiteral(pattern));
  return `CASE WHEN ${column} ~ ${check} THEN regexp_replace(${column}, ${place}, '''', 'g') ELSE ${column} END`;
}

/** Reverses guard. */
export function unguard(cell: string): string {
  return cell.replaceAll(guarded, "");
}
