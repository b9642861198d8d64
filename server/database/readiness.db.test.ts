// The readiness probe of /readyz: many requests cause few checks of the database.
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { createReadiness } from "./readiness.ts";

it("the readiness probe checks the database once for all requests at the same time, and again later", async () => {
  const check = vi.fn<() => Promise<void>>().mockRejectedValue(new Error("away"));
  const isReady = createReadiness(check, pino({ enabled: false }));
  expect(new Set(await Promise.all(Array.from({ length: 100 }, isReady)))).toEqual(new Set([false]));
  expect(check).toHaveBeenCalledTimes(1);
  await vi.waitFor(async () => {
    await isReady();
    expect(check).toHaveBeenCalledTimes(2);
  });
});
