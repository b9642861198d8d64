// A fault that the operator can mend: it is said in a sentence, without a stack, and stops the start.
import { printableLines } from "./printable.ts";

export class OperatorError extends Error {
  override name = "OperatorError";
}

/** What to print of an error: the sentence where the operator can mend it, the stack where only we can. */
export function explain(error: unknown): string {
  if (error instanceof OperatorError) return `${printableLines(error.message)}\n`;
  return `${printableLines(String(error instanceof Error ? error.stack : error))}\n`;
}
