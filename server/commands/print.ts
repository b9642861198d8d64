// What commands print: text without control characters, and counts. Only the exported list bypasses it.
import { printableLines } from "../operator-messages.ts";

/** Keeps line breaks, and replaces every other control character by "?". */
export function print(text: string): void {
  process.stdout.write(printableLines(text));
}

/** 1234567 as 1,234,567. */
export function count(number: number): string {
  return number.toLocaleString("en");
}

/** For example "1 entry", "2,000 entries". */
export function countEntries(number: number): string {
  return `${count(number)} ${number === 1 ? "entry" : "entries"}`;
}

/** For example "1 person", "2,000 people". */
export function countPeople(number: number): string {
  return `${count(number)} ${number === 1 ? "person" : "people"}`;
}
