// When the list is open: the settings against the clock, and the watch over a running site.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { settings } from "../config.ts";
import { describeClosing, isOpen, watchSignupWindow } from "./signup-window.ts";

const closes = (text: string) => settings.WAITLIST_CLOSES.schema.parse(text) as Date;
const window = { waitlist: "open" as const, waitlistCloses: closes("2026-12-31") };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([
  ["2026-12-31T23:59:59.999Z", true],
  ["2027-01-01T00:00:00Z", false],
])("a list that closes on 2026-12-31 is open at %s: %s", (time, expected) => {
  vi.setSystemTime(time);
  expect(isOpen(window)).toBe(expected);
  expect(isOpen({ ...window, waitlist: "closed" })).toBe(false);
});

it("a list without a closing time stays open", () => {
  vi.setSystemTime("2126-01-01");
  expect(isOpen({ waitlist: "open", waitlistCloses: undefined })).toBe(true);
});

it.each([
  ["2026-12-31", "31 Dec 2026 (UTC)"],
  ["2026-12-31T18:00+01:00", "31 Dec 2026 17:00 (UTC)"],
  ["2027-01-01T00:00:00Z", "31 Dec 2026 (UTC)"],
])("%s is described as %s", (text, words) => expect(describeClosing(closes(text))).toBe(words));

describe("the watch", () => {
  const update = vi.fn<() => void>();
  let stop: () => void;

  beforeEach(() => {
    update.mockReset();
    vi.setSystemTime("2026-12-06");
    stop = watchSignupWindow(window, update);
  });

  afterEach(() => stop());

  it("updates once within a second after the closing", async () => {
    vi.setSystemTime("2026-12-31T23:59:50Z");
    await vi.advanceTimersByTimeAsync(9_999);
    expect(update).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(update).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(update).toHaveBeenCalledTimes(1);
  });
});
