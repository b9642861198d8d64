// The conversion rate with its confidence interval, and growth.

export interface Rate {
  /** Shares from 0 to 1. */
  rate: number;
  low: number;
  high: number;
}

/** The 97.5th percentile of the standard normal distribution. */
const z = 1.959964;

/**
 * Returns the share of successes and its 95 % Wilson score interval, which also holds for few trials:
 * https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval#Wilson_score_interval
 * @returns undefined if there is no trial, or more successes than trials.
 */
export function wilson(successes: number, trials: number): Rate | undefined {
  if (trials === 0 || successes > trials) return undefined;
  const rate = successes / trials;
  const scale = 1 + z ** 2 / trials;
  const centre = (rate + z ** 2 / (2 * trials)) / scale;
  const half = (z / scale) * Math.sqrt((rate * (1 - rate)) / trials + z ** 2 / (4 * trials ** 2));
  return { rate, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

const unknown = "–";

/** For example "4.5 %". */
export const formatRate = (rate?: Rate) => (rate ? `${percent(rate.rate)} %` : unknown);

/** In percent, for example "3.5–5.9". */
export const formatInterval = (rate?: Rate) => (rate ? `${percent(rate.low)}–${percent(rate.high)}` : unknown);

const percent = (share: number) => (100 * share).toFixed(1);

/** For example "+12 %" or "−3 %"; "–" if there is nothing to compare with. */
export function formatGrowth(now: number, before: number | undefined): string {
  if (!before) return unknown;
  const growth = Math.round((100 * (now - before)) / before);
  return `${growth > 0 ? "+" : growth < 0 ? "−" : ""}${Math.abs(growth).toLocaleString("en")} %`;
}
