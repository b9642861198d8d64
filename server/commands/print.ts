// Writes text to stdout without control characters. Only the exported list bypasses it.
import { printableLines } from "../operator-messages.ts";

/** Keeps line breaks, and replaces every other control character by "?". */
export function print(text: string): void {
  process.stdout.write(printableLines(text));
}
