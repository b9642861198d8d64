// The dates that options and CSV files may hold.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { readMoment, readPeriod } from "./moment.ts";

describe("readMoment", () => {
  it.each([
    ["2026-01-31", "2026-01-31T00:00:00.000Z"],
    ["2026-01-31T12:00", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31 12:00+02", "2026-01-31T10:00:00.000Z"],
    ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00:00.5+02:00", "2026-01-31T10:00:00.500Z"],
    ["2026-01-31 12:00:00.123+00", "2026-01-31T12:00:00.123Z"],
    ["2026-01-31 12:00:00", "2026-01-31T12:00:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ])("reads %s as %s", (text, iso) => {
    expect(readMoment(text)?.toISOString()).toBe(iso);
  });

  it.each([
    "",
    "2026",
    "01/02/2026",
    "2026-02-30",
    "2026-13-01",
    "2026-01-31T25:00",
    "2026-01-31-05",
    "1767225600",
    "today",
  ])("refuses %j", (text) => {
    expect(readMoment(text)).toBeUndefined();
  });
});

describe("readPeriod", () => {
  const read = (options: Record<string, string>) => readPeriod((option) => options[option]);
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createEmptyDatabase();
  });
  afterAll(() => database.drop());

  /** Returns which of the times are in the period. */
  async function within(options: Record<string, string>, times: number[]): Promise<boolean[]> {
    const rows = times.map((time) => `('${new Date(time).toISOString()}'::timestamptz)`);
    const condition = read(options);
    const found = await database.query(`SELECT ${condition} AS within FROM (VALUES ${rows.join(", ")}) t (created_at)`);
    return found.map((row) => row.within as boolean);
  }

  async function expectDay(day: string, tz: string, start: number, hours: number) {
    const end = start + hours * 3_600_000;
    const inDay = await within({ since: day, until: day, tz }, [start - 1, start, end - 1, end]);
    expect(inDay).toEqual([false, true, true, false]);
  }

  it.each([
    ["2026-11-22", "UTC", "2026-11-22T00:00:00.000Z", 24],
    ["2026-01-31", "Europe/Berlin", "2026-01-30T23:00:00.000Z", 24],
    ["2026-07-31", "Europe/Berlin", "2026-07-30T22:00:00.000Z", 24],
    ["2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00.000Z", 23],
    ["2026-10-25", "Europe/Berlin", "2026-10-24T22:00:00.000Z", 25],
    ["2026-03-08", "America/New_York", "2026-03-08T05:00:00.000Z", 23],
    ["2026-01-31", "Asia/Kolkata", "2026-01-30T18:30:00.000Z", 24],
    ["2026-04-05", "Australia/Lord_Howe", "2026-04-04T13:00:00.000Z", 24.5],
    // The clocks skip midnight, so the day begins at 01:00.
    ["2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00.000Z", 23],
  ])("takes %s in %s as the whole day from %s, of %d hours", async (day, tz, start, hours) => {
    await expectDay(day, tz, Date.parse(start), hours);
  });

  // These zones have no summer time, and their dates always differ.
  it.each(
    ["today", "yesterday", "7d", "400d"].flatMap(
      (day) =>
        [
          [day, "Pacific/Kiritimati", 14],
          [day, "Pacific/Niue", -11],
        ] as const,
    ),
  )("takes %s in %s (UTC%i) as a whole day", async (day, tz, offset) => {
    const days = { today: 0, yesterday: 1 }[day] ?? Number.parseInt(day, 10);
    const today = Math.floor(Date.now() / 86_400_000 + offset / 24);
    await expectDay(day, tz, (today - days) * 86_400_000 - offset * 3_600_000, 24);
  });

  it.each([
    ["2026-07-31T12:00", "Europe/Berlin", "2026-07-31T10:00:00.000Z"],
    ["2026-07-31T12:00Z", "Europe/Berlin", "2026-07-31T12:00:00.000Z"],
    ["2026-07-31 12:00+05:30", "America/New_York", "2026-07-31T06:30:00.000Z"],
    ["2026-07-31T12:00:00.5", "America/New_York", "2026-07-31T16:00:00.500Z"],
    ["2026-03-29T01:59", "Europe/Berlin", "2026-03-29T00:59:00.000Z"],
    ["2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:30:00.000Z"], // Skipped: 03:30 in summer time.
    ["2026-10-25T02:30", "Europe/Berlin", "2026-10-25T01:30:00.000Z"], // Twice: the second one.
    ["2026-10-25T03:00", "Europe/Berlin", "2026-10-25T02:00:00.000Z"],
  ])("takes %s in %s as %s", async (time, tz, iso) => {
    const moment = Date.parse(iso);
    expect(await within({ since: time, tz }, [moment - 1, moment])).toEqual([false, true]);
    expect(await within({ until: time, tz }, [moment - 1, moment])).toEqual([true, false]);
  });

  it.each(["", "tomorrow", "7", "d", "-7d", "7 d", "99999d", "24h", "Today", "2026-02-30", "9999-12-32"])(
    "refuses %j",
    (text) => {
      expect(() => read({ since: text })).toThrow(/^--since is ".*" but must be a date, for example 2026-01-31, /);
      expect(() => read({ until: text })).toThrow(/^--until is /);
    },
  );

  it("refuses a time zone without a date", () => {
    expect(() => read({ tz: "Europe/Berlin" })).toThrow("--tz needs --since or --until.");
  });

  it.each(["", "Europe/Atlantis", "CET+1", "+01:00", "\u001B[2J"])("refuses the time zone %j", (tz) => {
    expect(() => read({ since: "today", tz })).toThrow(
      /^--tz is ".*" but must be a time zone, for example Europe\/Berlin$/,
    );
  });
});
