// Dates of options and CSV files: ISO 8601 only, because 01/02/2026 is another day in another country. In UTC without an offset.
import { z } from "zod";
import { printableName } from "../../operator-messages.ts";
import { UsageError } from "../command.ts";

const date = z.iso.date();
const dateTime = z.iso.datetime({ offset: true, local: true });
/** In milliseconds. */
const day = 86_400_000;

/** Returns undefined for a text that is no date. */
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

/** The parameters of Command.option. */
export const periodOptions = {
  since: [
    "--since <DATE>",
    "only entries of that time or later (ISO 8601, in UTC), yesterday, today or 7d (7 days ago)",
  ],
  until: ["--until <DATE>", "only entries before that time; a date without a time includes that day"],
} as const;

export interface Dates {
  since?: string;
  until?: string;
}

/** Returns an SQL condition on created_at. */
export function readPeriod(dates: Dates): string {
  const compare = (option: keyof Dates, operator: string, dayLength: number) => {
    const text = dates[option];
    if (text === undefined) return [];
    const midnight = readDay(text)?.getTime();
    const time = midnight === undefined ? readMoment(text)?.getTime() : midnight + dayLength;
    if (time !== undefined) return [`created_at ${operator} to_timestamp(${time / 1000})`];
    const example = "for example 2026-01-31, 2026-01-31T12:00Z, yesterday or 7d";
    throw new UsageError(`--${option} is "${printableName(text)}" but must be a date, ${example}`);
  };
  return [...compare("since", ">=", 0), ...compare("until", "<", day)].join(" AND ") || "true";
}

/** Returns the midnight of today, yesterday, 7d or an ISO date, or undefined for any other text. */
function readDay(text: string): Date | undefined {
  const days = { today: "0", yesterday: "1" }[text] ?? /^(\d{1,4})d$/.exec(text)?.[1];
  if (days !== undefined) return new Date((Math.floor(Date.now() / day) - Number(days)) * day);
  return date.safeParse(text).success ? readMoment(text) : undefined;
}
