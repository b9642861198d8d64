// Dates of options and CSV files: ISO 8601 only, because 01/02/2026 is another day in another country.
import { z } from "zod";
import { printableName } from "../../operator-messages.ts";
import { UsageError } from "../command.ts";
import { addDays, dateAt, fromClock, isTimeZone } from "./time-zone.ts";

const date = z.iso.date();
const dateTime = z.iso.datetime({ offset: true, local: true });

/**
 * Parses a date, or a date and time with "T" or a space between.
 * @param zone the time zone of a text without an offset.
 * @returns undefined for any other text.
 */
export function readMoment(text: string, zone = "UTC"): Date | undefined {
  const inZone = (clock: Date) => (zone === "UTC" ? clock : fromClock(clock, zone));
  if (date.safeParse(text).success) return inZone(new Date(`${text}T00:00:00Z`));
  // Postgres writes "2026-01-31 12:00:00+00"; zod wants seconds before an offset.
  const iso = text
    .replace(/^(\S{10})[T ](\d\d:\d\d)(?!:)/, "$1T$2:00")
    .replace(/^(\S{10}) /, "$1T")
    .replace(/([+-]\d\d)$/, "$1:00");
  if (!dateTime.safeParse(iso).success) return undefined;
  return /(?:Z|[+-]\d\d:\d\d)$/.test(iso) ? new Date(iso) : inZone(new Date(`${iso}Z`));
}

/** The start is included, the end excluded; undefined means unlimited. */
export interface Period {
  since: Date | undefined;
  until: Date | undefined;
}

export const periodOptions = {
  since: {
    value: "DATE",
    description: "only entries of that time or later (ISO 8601), yesterday, today or 7d (7 days ago)",
  },
  until: { value: "DATE", description: "only entries before that time; a date without a time includes that day" },
  tz: { value: "ZONE", description: "the time zone of --since and --until, for example Europe/Berlin; UTC by default" },
};

/**
 * @param now for yesterday, today and 7d.
 * @throws UsageError if a value is not a date or not a time zone.
 */
export function readPeriod(value: (option: string) => string | undefined, now = new Date()): Period {
  const zone = value("tz") ?? "UTC";
  if (!isTimeZone(zone)) {
    throw new UsageError(`--tz is "${printableName(zone)}" but must be a time zone, for example Europe/Berlin`);
  }
  const today = dateAt(now, zone);
  const read = (option: string, isEnd: boolean) => {
    const text = value(option);
    if (text === undefined) return undefined;
    const day = readDay(text, today);
    const moment = readMoment(day && isEnd ? addDays(day, 1) : (day ?? text), zone);
    if (moment) return moment;
    const example = "for example 2026-01-31, 2026-01-31T12:00Z, yesterday or 7d";
    throw new UsageError(`--${option} is "${printableName(text)}" but must be a date, ${example}`);
  };
  return { since: read("since", false), until: read("until", true) };
}

/** Returns the date of a text that stands for a whole day, or undefined. */
function readDay(text: string, today: string): string | undefined {
  const [, days] = /^(\d{1,4})d$/.exec(text) ?? [];
  if (days !== undefined) return addDays(today, -Number(days));
  if (text === "today" || text === "yesterday") return addDays(today, text === "today" ? 0 : -1);
  return date.safeParse(text).success ? text : undefined;
}

/** Returns an SQL condition on created_at. */
export function inPeriod({ since, until }: Period): string {
  const conditions = [];
  if (since) conditions.push(`created_at >= '${since.toISOString()}'`);
  if (until) conditions.push(`created_at < '${until.toISOString()}'`);
  return conditions.join(" AND ") || "true";
}
