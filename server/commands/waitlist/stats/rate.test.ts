// The conversion rate, its interval and growth, against known values.
import { expect, it } from "vitest";
import { formatGrowth, formatInterval, formatRate, wilson } from "./rate.ts";

it.each([
  [10, 100, 0.0552291, 0.1743657],
  [0, 10, 0, 0.2775328],
  [10, 10, 0.7224672, 1],
  [1, 2, 0.0945312, 0.9054688],
  [5, 100_000, 0.0000213579, 0.0001170513],
])("wilson(%i, %i) is %f to %f", (successes, trials, low, high) => {
  const interval = wilson(successes, trials);
  expect(interval?.rate).toBe(successes / trials);
  expect(interval?.low).toBeCloseTo(low, 7);
  expect(interval?.high).toBeCloseTo(high, 7);
  // The definition: each end is a true rate from which the observed one is 1.96 standard errors away.
  for (const end of [low, high]) {
    const standardError = Math.sqrt((end * (1 - end)) / trials);
    expect(Math.abs(end - successes / trials)).toBeCloseTo(1.959964 * standardError, 5);
  }
});

it.each([
  [0, 0],
  [1, 0],
  [3, 2],
])("wilson(%i, %i) is undefined, and formatted as a dash", (successes, trials) => {
  const rate = wilson(successes, trials);
  expect([rate, formatRate(rate), formatInterval(rate)]).toEqual([undefined, "–", "–"]);
});

it("formats a rate and its interval in percent", () => {
  const rate = wilson(10, 100);
  expect([formatRate(rate), formatInterval(rate)]).toEqual(["10.0 %", "5.5–17.4"]);
});

it.each([
  [112, 100, "+12 %"],
  [97, 100, "−3 %"],
  [100, 100, "0 %"],
  [0, 4, "−100 %"],
  [2_400, 2, "+119,900 %"],
  [5, 0, "–"],
  [5, undefined, "–"],
])("growth to %i from %s is %s", (now, before, text) => {
  expect(formatGrowth(now, before)).toBe(text);
});
