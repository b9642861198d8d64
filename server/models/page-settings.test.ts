// When the list is open: the settings against the clock, and the watch over a running site.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { settings } from "../config.ts";
import { describeClosing, isOpen, watchSignupWindow } from "./page-settings.ts";

const closes = (text: string) => settings.WAITLIST_CLOSES.schema.parse(text) as Date;
const window = { waitlist: "open" as const, waitlistCloses: closes("2026-12-31") };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([
  ["2026-12-31T23:59:59.999Z", true],
  ["2027-01-01T00:00:00Z", false],
])("a list that closes on 2026-12-31 has at %s the state open = %s", (time, expected) => {
  vi.setSystemTime(time);
  expect(isOpen(window)).toBe(expected);
  expect(isOpen({ ...window, waitlist: "closed" })).toBe(false);
});

it.each([
  ["2026-12-31", "31 Dec 2026 (UTC)"],
  ["2026-12-31T18:00+01:00", "31 Dec 2026 17:00 (UTC)"],
])("the closing time %s is shown as %s", (text, words) => expect(describeClosing(closes(text))).toBe(words));

it("the watch over the closing time updates once, within a second after the closing", async () => {
  const update = vi.fn<() => void>();
  vi.setSystemTime("2026-12-31T23:59:50Z");
  const stop = watchSignupWindow(window, update);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(update).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(update).toHaveBeenCalledTimes(1);
  stop();
});
