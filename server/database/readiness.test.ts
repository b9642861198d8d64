// The readiness probe of /readyz: many requests cause few checks of the database.
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { createReadiness } from "./readiness.ts";

it.each([
  ["well", true, async () => undefined],
  ["wrong", false, () => Promise.reject(new Error("away"))],
])("looks once for all who ask within a quarter of a second, if something is %s", async (_, ready, probe) => {
  const check = vi.fn<() => Promise<void>>(probe);
  const isReady = createReadiness(check, pino({ enabled: false }));
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  for (let i = 0; i < 100; i++) expect(await isReady()).toBe(ready);
  expect(check).toHaveBeenCalledTimes(1);
  clock.mockReturnValue(251);
  await isReady();
  expect(check).toHaveBeenCalledTimes(2);
  clock.mockRestore();
});
