// The report of an import on its file: counts of lines, and the invalid ones.
import { listNames } from "../../../operator-messages.ts";
import { count } from "../progress.ts";

export interface Seen {
  lines: number;
  /** The number of different addresses. */
  entries: number;
  /** Those of `entries` that are already on the list. */
  known: number;
  /** Lines whose address was erased; undefined if no erased addresses are kept. */
  erased?: number;
  bad: number;
  /** What is wrong with the first bad lines. */
  complaints: string[];
  unusable: Record<"created_at" | "status", number>;
}

export function describe({ lines, entries, known, erased, bad, unusable }: Seen, ignored: string[]): string {
  const twice = lines - bad - (erased ?? 0) - entries;
  const counts = [`${count(lines)} lines`, `${count(known)} already on the list`, `${count(twice)} twice in the file`];
  if (erased !== undefined) counts.push(`${count(erased)} erased`);
  const facts = [`${[...counts, `${count(bad)} wrong`].join(", ")}.`];
  if (ignored.length > 0) facts.push(`Ignored columns: ${listNames(ignored)}.`);
  if (unusable.created_at)
    facts.push(`${count(unusable.created_at)} dates are unusable; import uses the current time.`);
  if (unusable.status) facts.push(`${count(unusable.status)} statuses are unknown; import uses waiting.`);
  return `${facts.join("\n")}\n`;
}

export function describeBad({ complaints, bad }: Seen): string {
  const more = bad > complaints.length ? [`… and ${count(bad - complaints.length)} more.`] : [];
  return [...complaints, ...more, "Nothing was imported."].join("\n");
}
