// Parses a line of a CSV file into a waitlist entry, with the checks of a sign-up.
import { v7 as uuidv7 } from "uuid";
import { WaitlistStatus } from "../../../database/generated/enums.ts";
import { parseEntry, type WaitlistEntry } from "../../../models/waitlist-entry.ts";
import type { CsvLine } from "./csv-file.ts";
import { readMoment } from "../moment.ts";

export interface ImportedEntry extends WaitlistEntry {
  id: string;
  /** ISO 8601; null means now. */
  created_at: string | null;
  /** Null means waiting. */
  status: string | null;
}

export type ReadLine =
  { ok: true; entry: ImportedEntry; unusable: ("created_at" | "status")[] } | { ok: false; reason: string };

const statuses = new Set<string>(Object.values(WaitlistStatus));

/** The reason names fields and rules, and quotes no value. */
export function readEntry({ cells }: CsvLine): ReadLine {
  if (!cells) return { ok: false, reason: "more cells than the header has" };
  const { first_name = "", last_name = "", referrer_host: referrer, ...rest } = cells;
  const name = rest.name ?? `${first_name} ${last_name}`;
  const parsed = parseEntry({ ...rest, name, referrer });
  if (!parsed.ok) {
    const reasons = Object.entries(parsed.errors).map(([field, error]) => `${field}: ${error}`);
    return { ok: false, reason: reasons.join(" ") };
  }
  const created_at = readPast(rest.created_at ?? "");
  const word = (rest.status ?? "").trim().toLowerCase();
  const status = statuses.has(word) ? word : null;
  const unusable: ("created_at" | "status")[] = [];
  if (rest.created_at?.trim() && !created_at) unusable.push("created_at");
  if (word && !status) unusable.push("status");
  const isTrue = (cell = "") => /^t(?:rue)?$/i.test(cell);
  const marks = { suspected_spam: isTrue(rest.suspected_spam), unusual_volume: isTrue(rest.unusual_volume) };
  return { ok: true, entry: { ...parsed.entry, ...marks, id: uuidv7(), created_at, status }, unusable };
}

/** Returns null for a date in the future. */
function readPast(text: string): string | null {
  const moment = text.trim() === "" ? undefined : readMoment(text.trim());
  return moment && moment.getTime() <= Date.now() ? moment.toISOString() : null;
}
