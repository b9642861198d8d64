import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { MonotonicStore } from "./monotonic-store.ts";

let store: MonotonicStore;

beforeEach(() => {
  vi.useFakeTimers();
  store = new MonotonicStore();
  store.init({ windowMs: 1_000 });
});

afterEach(() => vi.useRealTimers());

const hits = (key: string) => store.increment(key).totalHits;

it("counts each key within its window", () => {
  expect([hits("a"), hits("a"), hits("b")]).toEqual([1, 2, 1]);
  vi.advanceTimersByTime(999);
  expect(hits("a")).toBe(3);
  vi.advanceTimersByTime(1);
  expect(hits("a")).toBe(1);
});

it("ends a window in time although the wall clock is put back", () => {
  hits("a");
  vi.setSystemTime(Date.now() - 86_400_000);
  expect(Number(store.increment("a").resetTime) - Date.now()).toBeLessThanOrEqual(1_000);
  vi.advanceTimersByTime(1_000);
  expect(hits("a")).toBe(1);
});

it("remembers 100,000 keys, and forgets the one whose window began first", () => {
  for (let i = 0; i < 100_000; i++) hits(`key ${i}`);
  hits("key 0"); // Still in its first window.
  hits("one more");
  expect([hits("key 1"), hits("key 99999")]).toEqual([2, 2]);
  expect(hits("key 0")).toBe(1);
});
