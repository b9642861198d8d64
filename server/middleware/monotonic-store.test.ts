// The rate limiter's in-memory store: windows by the monotonic clock, and a bounded number of keys.
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

it("the store counts each key and starts again after its window", () => {
  expect([hits("a"), hits("a"), hits("b")]).toEqual([1, 2, 1]);
  vi.advanceTimersByTime(999);
  expect(hits("a")).toBe(3);
  vi.advanceTimersByTime(1);
  expect(hits("a")).toBe(1);
});

it("a window ends on time after the wall clock is set back", () => {
  hits("a");
  vi.setSystemTime(Date.now() - 86_400_000);
  expect(Number(store.increment("a").resetTime) - Date.now()).toBeLessThanOrEqual(1_000);
  vi.advanceTimersByTime(1_000);
  expect(hits("a")).toBe(1);
});

it("the store holds 100,000 keys and drops the key with the oldest window", () => {
  for (let i = 0; i < 100_000; i++) hits(`key ${i}`);
  hits("key 0"); // It stays the oldest: a hit does not start a new window.
  hits("one more");
  expect([hits("key 1"), hits("key 99999")]).toEqual([2, 2]);
  expect(hits("key 0")).toBe(1);
});
