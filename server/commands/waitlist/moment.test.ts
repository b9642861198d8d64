// The dates that options and CSV files may hold.
import { describe, expect, it } from "vitest";
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
  const now = new Date("2026-11-22T23:30:00Z"); // In Berlin the 23rd, in New York the 22nd.
  const read = (options: Record<string, string>) => {
    const { since, until } = readPeriod((option) => options[option], now);
    return [since?.toISOString(), until?.toISOString()];
  };
  const hours = ([since, until]: (string | undefined)[]) =>
    (Date.parse(until ?? "") - Date.parse(since ?? "")) / 3_600_000;

  it.each([
    ["2026-11-22", "UTC", "2026-11-22T00:00:00.000Z", 24],
    ["2026-01-31", "Europe/Berlin", "2026-01-30T23:00:00.000Z", 24],
    ["2026-07-31", "Europe/Berlin", "2026-07-30T22:00:00.000Z", 24],
    ["2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00.000Z", 23],
    ["2026-10-25", "Europe/Berlin", "2026-10-24T22:00:00.000Z", 25],
    ["2026-03-08", "America/New_York", "2026-03-08T05:00:00.000Z", 23],
    ["2026-11-01", "America/New_York", "2026-11-01T04:00:00.000Z", 25],
    ["2026-01-31", "Asia/Kolkata", "2026-01-30T18:30:00.000Z", 24],
    ["2026-04-05", "Australia/Lord_Howe", "2026-04-04T13:00:00.000Z", 24.5],
    // The clocks skip midnight, so the day begins at 01:00.
    ["2018-11-04", "America/Sao_Paulo", "2018-11-04T03:00:00.000Z", 23],
    // The clocks show midnight twice.
    ["2026-11-01", "America/Havana", "2026-11-01T04:00:00.000Z", 25],
    ["1890-01-01", "Europe/Berlin", "1889-12-31T23:06:32.000Z", 24],
    ["today", "UTC", "2026-11-22T00:00:00.000Z", 24],
    ["today", "Europe/Berlin", "2026-11-22T23:00:00.000Z", 24],
    ["today", "America/New_York", "2026-11-22T05:00:00.000Z", 24],
    ["yesterday", "UTC", "2026-11-21T00:00:00.000Z", 24],
    ["yesterday", "Europe/Berlin", "2026-11-21T23:00:00.000Z", 24],
    ["7d", "UTC", "2026-11-15T00:00:00.000Z", 24],
    ["29d", "Europe/Berlin", "2026-10-24T22:00:00.000Z", 25],
    ["0d", "America/New_York", "2026-11-22T05:00:00.000Z", 24],
  ])("takes %s in %s as the whole day from %s, of %d hours", (day, tz, start, length) => {
    const period = read({ since: day, until: day, tz });
    expect([period[0], hours(period)]).toEqual([start, length]);
  });

  it.each([
    ["2026-07-31T12:00", "Europe/Berlin", "2026-07-31T10:00:00.000Z"],
    ["2026-07-31T12:00Z", "Europe/Berlin", "2026-07-31T12:00:00.000Z"],
    ["2026-07-31 12:00+05:30", "America/New_York", "2026-07-31T06:30:00.000Z"],
    ["2026-07-31T12:00:00.5", "America/New_York", "2026-07-31T16:00:00.500Z"],
    ["2026-03-29T01:59", "Europe/Berlin", "2026-03-29T00:59:00.000Z"],
    ["2026-03-29T02:30", "Europe/Berlin", "2026-03-29T01:30:00.000Z"], // Skipped: 03:30 in summer time.
    ["2026-03-29T03:00", "Europe/Berlin", "2026-03-29T01:00:00.000Z"],
    ["2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00.000Z"], // Twice: the first one.
    ["2026-10-25T03:00", "Europe/Berlin", "2026-10-25T02:00:00.000Z"],
  ])("takes %s in %s as %s", (time, tz, moment) => {
    expect(read({ since: time, until: time, tz })).toEqual([moment, moment]);
  });

  it.each(["", "tomorrow", "7", "d", "-7d", "7 d", "99999d", "24h", "Today", "2026-02-30", "9999-12-32"])(
    "refuses %j",
    (text) => {
      expect(() => read({ since: text })).toThrow(/^--since is ".*" but must be a date, for example 2026-01-31, /);
      expect(() => read({ until: text })).toThrow(/^--until is /);
    },
  );

  it.each(["", "Europe/Atlantis", "CET+1", "\u001B[2J"])("refuses the time zone %j", (tz) => {
    expect(() => read({ tz })).toThrow(/^--tz is ".*" but must be a time zone, for example Europe\/Berlin$/);
  });
});
