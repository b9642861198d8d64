// The hourly volume of sign-ups: flags above the ceiling, and a hard limit at a hundred times the ceiling.
import { pino } from "pino";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { UnavailableError } from "./batch.ts";
import { createSignupCeiling, type SignupCeiling } from "./signup-volume.ts";

let lines: string;
const log = pino({ base: null }, { write: (line: string) => (lines += line) });

beforeEach(() => {
  lines = "";
});

afterEach(() => vi.useRealTimers());

/** A waitlist in memory that says which entries are new, as the real one does. */
function createList(ceiling: SignupCeiling) {
  const stored = new Map<string, boolean>();
  return {
    join: (email: string) =>
      ceiling.pass(async (unusualVolume) => {
        const isNew = !stored.has(email);
        if (isNew) stored.set(email, unusualVolume);
        return isNew;
      }),
    flagged: () => [...stored].filter(([, isFlagged]) => isFlagged).map(([email]) => email),
    size: () => stored.size,
  };
}

it("the hourly ceiling flags new entries above the ceiling and warns once an hour", async () => {
  vi.useFakeTimers();
  const list = createList(createSignupCeiling(2, log));
  for (const email of ["a", "b", "c", "d"]) await list.join(email);
  expect(list.flagged()).toEqual(["c", "d"]);
  expect(lines.match(/SIGNUP_HOURLY_CEILING/g)).toHaveLength(1);
  vi.advanceTimersByTime(3_600_000);
  for (const email of ["e", "f", "g"]) await list.join(email);
  expect(list.flagged()).toEqual(["c", "d", "g"]);
});

it("the hourly limit refuses entries above a hundred ceilings until the hour ends, to protect the disk", async () => {
  vi.useFakeTimers();
  const list = createList(createSignupCeiling(2, log));
  for (let i = 0; i < 200; i++) await list.join(`${i}`);
  await expect(list.join("one more")).rejects.toMatchObject({ retryAfterSeconds: 3_600 });
  await expect(list.join("another")).rejects.toBeInstanceOf(UnavailableError);
  expect(lines.match(/"level":50/g)).toHaveLength(1);
  vi.advanceTimersByTime(3_600_000);
  await list.join("one more");
  expect(list.size()).toBe(201);
});

it("the hourly limit refuses known addresses too, so that the response does not reveal them", async () => {
  const list = createList(createSignupCeiling(2, log));
  for (let i = 0; i < 200; i++) await list.join("a");
  await expect(list.join("a")).rejects.toBeInstanceOf(UnavailableError);
  expect(list.flagged()).toEqual([]);
});
