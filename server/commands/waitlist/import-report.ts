// What an import says of the file that it read: how many lines there are of which kind, and which are wrong.
import { listNames } from "../../printable.ts";
import { count } from "./progress.ts";

export interface Seen {
  lines: number;
  /** Different addresses. */
  entries: number;
  /** Of these, on the list already. */
  known: number;
  bad: number;
  /** The first of the bad lines. */
  complaints: string[];
  unusable: Record<"created_at" | "status", number>;
}

export function describe({ lines, entries, known, bad, unusable }: Seen, ignored: string[]): string {
  const facts = [
    `${count(lines)} lines, ${count(known)} already on the list, ${count(lines - bad - entries)} twice in the file, ${count(bad)} wrong.`,
  ];
  if (ignored.length > 0) facts.push(`Columns that mean nothing here: ${listNames(ignored)}.`);
  if (unusable.created_at) facts.push(`${count(unusable.created_at)} dates cannot be used; those count as of now.`);
  if (unusable.status) facts.push(`${count(unusable.status)} statuses are unknown; those count as waiting.`);
  return `${facts.join("\n")}\n`;
}

export function describeBad({ complaints, bad }: Seen): string {
  const more = bad > complaints.length ? [`… and ${count(bad - complaints.length)} more.`] : [];
  return [...complaints, ...more, "Nothing was imported."].join("\n");
}
