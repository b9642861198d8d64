// Dates of options and CSV files: ISO 8601 only, because 01/02/2026 is another day in another country.
import { z } from "zod";
import { printableName } from "../../operator-messages.ts";
import { UsageError } from "../command.ts";

const date = z.iso.date();
const dateTime = z.iso.datetime({ offset: true, local: true });

const dayMs = 86_400_000;

/**
 * Parses a date, or a date and time with "T" or a space between. Without an offset it is UTC.
 * @returns undefined for any other text.
 */
export function readMoment(text: string): Date | undefined {
  if (date.safeParse(text).success) return new Date(`${text}T00:00:00Z`);
  // Postgres writes "2026-01-31 12:00:00+00"; zod wants seconds before an offset.
  const iso = text
    .replace(/^(\S{10})[T ](\d\d:\d\d)(?!:)/, "$1T$2:00")
    .replace(/^(\S{10}) /, "$1T")
    .replace(/([+-]\d\d)$/, "$1:00");
  if (!dateTime.safeParse(iso).success) return undefined;
  return new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(iso) ? iso : `${iso}Z`);
}

/** The start is included, the end excluded; undefined means unlimited. */
export interface Period {
  since: Date | undefined;
  until: Date | undefined;
}

export const periodOptions = {
  since: {
    value: "DATE",
    description: "only entries of that time or later (ISO 8601; UTC without an offset)",
  },
  until: { value: "DATE", description: "only entries before that time; a date without a time includes that day" },
};

/** @throws UsageError if a value is not a date. */
export function readPeriod(value: (option: string) => string | undefined): Period {
  const read = (option: string) => {
    const text = value(option);
    const moment = text === undefined ? undefined : readMoment(text);
    if (text !== undefined && !moment) {
      throw new UsageError(
        `--${option} is "${printableName(text)}" but must be a date, for example 2026-01-31 or 2026-01-31T12:00Z`,
      );
    }
    return { text, moment };
  };
  const until = read("until");
  const wholeDay = until.moment && date.safeParse(until.text).success;
  return {
    since: read("since").moment,
    until: wholeDay ? new Date((until.moment as Date).getTime() + dayMs) : until.moment,
  };
}

/** Returns an SQL condition on created_at. */
export function inPeriod({ since, until }: Period): string {
  const conditions = [];
  if (since) conditions.push(`created_at >= '${since.toISOString()}'`);
  if (until) conditions.push(`created_at < '${until.toISOString()}'`);
  return conditions.join(" AND ") || "true";
}
