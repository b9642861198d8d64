// Dates of options and CSV files: ISO 8601 only, because 01/02/2026 is another day in another country. In UTC without an offset.
import { InvalidArgumentError, Option } from "commander";
import { z } from "zod";

const isDay = (text: string) => z.iso.date().safeParse(text).success;
const dateTime = z.iso.datetime({ offset: true, local: true });
const dayMs = 86_400_000;

export function readMoment(text: string): Date | undefined {
  if (isDay(text)) return new Date(text);
  // Postgres writes "2026-01-31 12:00:00+00"; zod wants seconds before an offset.
  const iso = text
    .replace(/^(\S{10})[T ](\d\d:\d\d)(?!:)/, "$1T$2:00")
    .replace(/^(\S{10}) /, "$1T")
    .replace(/ UTC$/, "Z")
    .replace(/([+-]\d\d)$/, "$1:00");
  if (!dateTime.safeParse(iso).success) return undefined;
  return new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(iso) ? iso : `${iso}Z`);
}

/** @param dayLength what to add to a date without a time. */
function readTimestamp(text: string, dayLength: number): string {
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  const date = days ? new Date(Date.now() - Number(days) * dayMs).toISOString().slice(0, 10) : text;
  const moment = readMoment(date);
  if (!moment) throw new InvalidArgumentError("Name a date, for example 2026-01-31, 2026-01-31T12:00Z or 7d.");
  return `to_timestamp(${(moment.getTime() + (isDay(date) ? dayLength : 0)) / 1000})`;
}

/** The value of either option is an SQL condition on created_at. */
export const sinceOption = () =>
  new Option("--since <DATE>", "only entries of that time or later (ISO 8601, in UTC), or 7d (7 days ago)").argParser(
    (text) => `created_at >= ${readTimestamp(text, 0)}`,
  );

export const untilOption = () =>
  new Option("--until <DATE>", "only entries before that time, or until the end of that day").argParser(
    (text) => `created_at < ${readTimestamp(text, dayMs)}`,
  );

export interface Period {
  since?: string;
  until?: string;
}

export const periodSql = ({ since = "true", until = "true" }: Period) => `${since} AND ${until}`;
