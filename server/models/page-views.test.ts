// The counting of page views: bounded, stored once, and kept while the database is down.
import { pino } from "pino";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createPageViews, type PageViews } from "./page-views.ts";

/** What was sent to the database: views by day and source. */
let batches: Record<string, number>[];
let isDown: boolean;
let logged: string;
let views: PageViews;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date("2026-11-22T23:59:00Z") });
  batches = [];
  isDown = false;
  logged = "";
  const execute = async ({ values: [json] }: { values: unknown[] }) => {
    const rows = JSON.parse(json as string) as { day: string; source: string; views: number }[];
    batches.push(Object.fromEntries(rows.map((row) => [`${row.day} ${row.source}`, row.views])));
    if (isDown) views.add("news"); // While the database does not answer.
    if (isDown) throw Object.assign(new Error("down"), { code: "ECONNREFUSED" });
    return 0;
  };
  views = createPageViews(execute, pino({ base: null }, { write: (line: string) => (logged += line) }));
});

afterEach(async () => {
  await views.close();
  vi.useRealTimers();
});

it("the counter of page views stores those of each day and source once a minute, and nothing if there are none", async () => {
  for (const source of ["direct", "news", "direct"]) views.add(source);
  vi.setSystemTime(new Date("2026-11-23T00:00:00Z"));
  views.add("direct");
  await vi.advanceTimersByTimeAsync(59_999);
  expect(batches).toEqual([]);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(batches).toEqual([{ "2026-11-22 direct": 2, "2026-11-22 news": 1, "2026-11-23 direct": 1 }]);
});

it("a flood of sources hides new ones for its hour only, and neither direct views nor one that was named that day", async () => {
  vi.setSystemTime(new Date("2026-11-22T10:00:00Z"));
  for (let i = 0; i < 60; i++) views.add(`source-${i}`);
  vi.setSystemTime(new Date("2026-11-22T10:59:00Z"));
  for (const source of ["source-49", "late", "direct"]) views.add(source);
  vi.setSystemTime(new Date("2026-11-22T11:00:00Z"));
  for (const source of ["source-49", "late"]) views.add(source);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(batches[0]).toMatchObject({ "2026-11-22 source-49": 3, "2026-11-22 other": 11, "2026-11-22 late": 1 });
  expect(batches[0]).toHaveProperty("2026-11-22 direct", 1);
});

it("the counter of page views keeps them while the database is down, and adds them to the next ones", async () => {
  isDown = true;
  views.add("direct");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(logged).toContain("ECONNREFUSED");
  isDown = false;
  views.add("direct");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(batches).toEqual([
    { "2026-11-22 direct": 1 },
    { "2026-11-22 direct": 1, "2026-11-23 direct": 1, "2026-11-23 news": 1 },
  ]);
});
