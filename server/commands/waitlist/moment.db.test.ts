// The dates that options and CSV files may hold.
import { expect, inject, it } from "vitest";
import { queryAs } from "../../../tests/support/postgres.ts";
import { readMoment, readPeriod } from "./moment.ts";

it.each([
  ["2026-01-31", "2026-01-31T00:00:00.000Z"],
  ["2026-01-31T12:00", "2026-01-31T12:00:00.000Z"],
  ["2026-01-31 12:00:00.123+02", "2026-01-31T10:00:00.123Z"],
  ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"],
])("readMoment reads %s as %s", (text, iso) => {
  expect(readMoment(text)?.toISOString()).toBe(iso);
});

it.each(["", "01/02/2026", "2026-02-30", "2026-01-31T25:00", "1767225600"])("readMoment refuses %j", (text) => {
  expect(readMoment(text)).toBeUndefined();
});

/** Returns which of the times are in the period. */
async function within(options: Record<string, string>, times: number[]): Promise<boolean[]> {
  const rows = times.map((time) => `('${new Date(time).toISOString()}'::timestamptz)`);
  const sql = `SELECT ${readPeriod(options)} AS within FROM (VALUES ${rows.join(", ")}) t (created_at)`;
  return (await queryAs(inject("superuserUrl"), sql)).map((row) => row.within as boolean);
}

it.each(["2024-02-29", "today", "yesterday", "400d"])("readPeriod takes %s as a whole day in UTC", async (day) => {
  const days = { today: 0, yesterday: 1 }[day] ?? Number.parseInt(day, 10);
  const start = day.includes("-") ? Date.parse(day) : (Math.floor(Date.now() / 86_400_000) - days) * 86_400_000;
  const end = start + 86_400_000;
  const times = [start - 1, start, end - 1, end];
  expect(await within({ since: day, until: day }, times)).toEqual([false, true, true, false]);
});

it.each(["", "tomorrow", "7", "24h", "2026-02-30"])("readPeriod refuses %j", (text) => {
  expect(() => readPeriod({ since: text })).toThrow(/^--since is ".*" but must be a date, for example 2026-01-31, /);
  expect(() => readPeriod({ until: text })).toThrow(/^--until is /);
});
