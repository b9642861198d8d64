// When a success retries the failed jobs: after an outage, and not after a fault of one job.
import type { JobHelpers } from "graphile-worker";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { retryAfterOutage } from "./outage.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const query = vi.fn<JobHelpers["query"]>();
const outage = new Error("away");
const refusal = new Error("refused");

/** Runs one job for each outcome, each `seconds` after the one before. Returns how often failed jobs were retried. */
async function countRetries(seconds: number, ...outcomes: (boolean | Error)[]): Promise<number> {
  let outcome: boolean | Error = true;
  const work = async () => {
    if (outcome instanceof Error) throw outcome;
    return outcome;
  };
  const task = retryAfterOutage("mail", work, (error) => error === outage);
  const run = async () => task({}, { query } as unknown as JobHelpers);
  await run(); // The first success retries whatever failed before the start.
  query.mockClear();
  for (outcome of outcomes) {
    vi.advanceTimersByTime(seconds * 1000);
    await run().catch(() => undefined);
  }
  return query.mock.calls.length;
}

it("retries once after an outage of more than 10 s", async () => {
  expect(await countRetries(6, outage, outage, true, true)).toBe(1);
});

it("retries nothing after a shorter fault", async () => {
  expect(await countRetries(4, outage, outage, true, true)).toBe(0);
});

it("retries nothing after faults of single jobs", async () => {
  expect(await countRetries(60, refusal, true, refusal, true)).toBe(0);
});

it("does not take a job that needed no receiver for a success", async () => {
  expect(await countRetries(60, outage, false)).toBe(0);
  expect(await countRetries(60, outage, false, true)).toBe(1);
});
