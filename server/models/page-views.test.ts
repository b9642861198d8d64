// The counting of page views: bounded, stored once, and kept while the database is down.
import { pino } from "pino";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createPageViews, type PageViews } from "./page-views.ts";

interface Row {
  day: string;
  source: string;
  views: number;
}

let batches: Row[][];
let isDown: boolean;
let logged: string;
let views: PageViews;

beforeEach(() => {
  vi.useFakeTimers({ now: new Date("2026-11-22T23:59:00Z") });
  batches = [];
  isDown = false;
  logged = "";
  const execute = async (_statement: string, json: unknown) => {
    batches.push(JSON.parse(json as string) as Row[]);
    if (isDown) throw Object.assign(new Error("down"), { code: "ECONNREFUSED" });
    return 0;
  };
  views = createPageViews(execute, pino({ base: null }, { write: (line: string) => (logged += line) }));
});

afterEach(async () => {
  await views.close();
  vi.useRealTimers();
});

const add = (...sources: string[]) => {
  for (const source of sources) views.add(source);
};
const counts = (rows: Row[] = []) => rows.map(({ day, source, views: number }) => [day, source, number]);
const total = (rows: Row[] = []) => rows.reduce((sum, row) => sum + row.views, 0);

it("the counter of page views stores those of each day and source once a minute, and nothing if there are none", async () => {
  add("direct", "news", "direct");
  vi.setSystemTime(new Date("2026-11-23T00:00:00Z"));
  add("direct");
  await vi.advanceTimersByTimeAsync(59_999);
  expect(batches).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  const [rows] = batches;
  expect(counts(rows)).toEqual([
    ["2026-11-22", "direct", 2],
    ["2026-11-22", "news", 1],
    ["2026-11-23", "direct", 1],
  ]);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(batches).toHaveLength(1);
});

it("the counter of page views counts a flood of sources as one, and still names direct views", async () => {
  for (let i = 0; i < 100_000; i++) add(`source-${i}`);
  add("direct", "source-3", "source-200");
  await views.flush();
  const [rows = []] = batches;
  expect(rows).toHaveLength(102);
  expect(total(rows)).toBe(100_003);
  expect(counts(rows)).toContainEqual(["2026-11-22", "direct", 1]);
});

it("the counter of page views keeps them while the database is down, and adds them to the next ones", async () => {
  isDown = true;
  add("direct");
  await views.flush();
  expect(logged).toContain('"code":"ECONNREFUSED"');
  add("direct");
  isDown = false;
  await views.flush();
  expect(batches.map((rows) => total(rows))).toEqual([1, 2]);
});

it("the counter of page views stores the rest at the end, and says how many views are lost", async () => {
  add("direct", "news");
  await views.close();
  expect([total(batches[0]), logged]).toEqual([2, ""]);
  isDown = true;
  add("direct", "direct");
  await views.close();
  expect(logged).toContain('"views":2,"msg":"page views are lost');
  isDown = false;
});
