// The hourly volume of sign-ups: flags above the ceiling.
import { pino } from "pino";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { entryOf } from "../../tests/support/entry.ts";
import { createSignupVolume, type SignupVolume } from "./signup-volume.ts";
import type { Waitlist } from "./waitlist.ts";
import type { WaitlistEntry } from "./waitlist-entry.ts";

let lines: string;
const log = pino({ base: null }, { write: (line: string) => (lines += line) });

beforeEach(() => {
  lines = "";
});

afterEach(() => vi.useRealTimers());

/** A waitlist in memory that reports new entries to the volume as the real one does. */
function createList(volume: SignupVolume) {
  const stored = new Map<string, WaitlistEntry>();
  const list: Waitlist = {
    async join(entry) {
      const isNew = !stored.has(entry.email);
      if (isNew) stored.set(entry.email, entry);
      volume.add(Number(isNew));
    },
  };
  return {
    join: (email: string) => volume.limit(list).join(entryOf(email)),
    flagged: () => [...stored.values()].filter(({ unusual_volume }) => unusual_volume).map(({ email }) => email),
  };
}

it("the hourly ceiling flags new entries above the ceiling and warns once an hour", async () => {
  vi.useFakeTimers();
  const list = createList(createSignupVolume(2, log));
  for (const email of ["a", "b", "c", "d"]) await list.join(email);
  expect(list.flagged()).toEqual(["c", "d"]);
  expect(lines.match(/SIGNUP_HOURLY_CEILING/g)).toHaveLength(1);
  vi.advanceTimersByTime(3_600_000);
  for (const email of ["e", "f", "g"]) await list.join(email);
  expect(list.flagged()).toEqual(["c", "d", "g"]);
});
