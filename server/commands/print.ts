// The one function through which commands write to stdout; only the exported list itself bypasses it.
import { printableLines } from "../printable.ts";

/** Writes the text with its own line breaks, and "?" for any other control character. */
export function print(text: string): void {
  process.stdout.write(printableLines(text));
}
