// The readiness probe of /readyz: many requests cause few checks of the database.
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { createReadiness } from "./readiness.ts";

it.each([
  ["well", true, async () => undefined],
  ["wrong", false, () => Promise.reject(new Error("away"))],
])("the readiness check looks once for all who ask at the same time, if something is %s", async (_, ready, probe) => {
  const check = vi.fn<() => Promise<void>>(probe);
  const isReady = createReadiness(check, pino({ enabled: false }));
  const answers = await Promise.all(Array.from({ length: 100 }, isReady));
  expect(new Set(answers)).toEqual(new Set([ready]));
  expect(check).toHaveBeenCalledTimes(1);
  await isReady();
  expect(check).toHaveBeenCalledTimes(2);
});
