// Dates of options and CSV files: ISO 8601 only, because 01/02/2026 is another day in another country.
import pg from "pg";
import { z } from "zod";
import { printableName } from "../../operator-messages.ts";
import { UsageError } from "../command.ts";

const date = z.iso.date();
const dateTime = z.iso.datetime({ offset: true, local: true });

/** Returns a date and time as ISO 8601 writes it, or undefined for any other text. */
function readDateTime(text: string): string | undefined {
  // Postgres writes "2026-01-31 12:00:00+00"; zod wants seconds before an offset.
  const iso = text
    .replace(/^(\S{10})[T ](\d\d:\d\d)(?!:)/, "$1T$2:00")
    .replace(/^(\S{10}) /, "$1T")
    .replace(/([+-]\d\d)$/, "$1:00");
  return dateTime.safeParse(iso).success ? iso : undefined;
}

const hasOffset = (iso: string) => /(?:Z|[+-]\d\d:\d\d)$/.test(iso);

/**
 * Parses a date, or a date and time with "T" or a space between. Without an offset it is UTC.
 * @returns undefined for any other text.
 */
export function readMoment(text: string): Date | undefined {
  if (date.safeParse(text).success) return new Date(`${text}T00:00:00Z`);
  const iso = readDateTime(text);
  return iso === undefined ? undefined : new Date(hasOffset(iso) ? iso : `${iso}Z`);
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
 * @returns an SQL condition on created_at; Postgres knows the clocks of each time zone.
 * @throws UsageError if a value is not a date or not a time zone.
 */
export function readPeriod(value: (option: string) => string | undefined): string {
  const zone = value("tz") ?? "UTC";
  if (value("tz") !== undefined && (value("since") ?? value("until")) === undefined) {
    throw new UsageError("--tz needs --since or --until.");
  }
  if (!isTimeZone(zone)) {
    throw new UsageError(`--tz is "${printableName(zone)}" but must be a time zone, for example Europe/Berlin`);
  }
  const inZone = `AT TIME ZONE ${pg.escapeLiteral(zone)}`;
  const compare = (option: string, operator: string, daysToAdd: number) => {
    const text = value(option);
    if (text === undefined) return [];
    const day = readDay(text, inZone);
    const iso = readDateTime(text);
    if (day) return [`created_at ${operator} (${day} + ${daysToAdd})::timestamp ${inZone}`];
    if (iso)
      return [`created_at ${operator} ${hasOffset(iso) ? `timestamptz '${iso}'` : `timestamp '${iso}' ${inZone}`}`];
    const example = "for example 2026-01-31, 2026-01-31T12:00Z, yesterday or 7d";
    throw new UsageError(`--${option} is "${printableName(text)}" but must be a date, ${example}`);
  };
  return [...compare("since", ">=", 0), ...compare("until", "<", 1)].join(" AND ") || "true";
}

/** Returns today, yesterday, 7d or an ISO date as an SQL expression, or undefined for any other text. */
function readDay(text: string, inZone: string): string | undefined {
  const days = { today: "0", yesterday: "1" }[text] ?? /^(\d{1,4})d$/.exec(text)?.[1];
  if (days !== undefined) return `(now() ${inZone})::date - ${days}`;
  return date.safeParse(text).success ? `date '${text}'` : undefined;
}

/** Not an offset such as +01:00, which Postgres counts in the other direction. */
function isTimeZone(name: string): boolean {
  try {
    return /^[a-z]/i.test(name) && Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}
