// The readiness probe of /readyz: many requests cause few checks of the database.
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { createReadiness } from "./readiness.ts";

it("the readiness probe checks the database once for all requests within a quarter of a second", async () => {
  const check = vi.fn<() => Promise<void>>().mockRejectedValue(new Error("away"));
  const isReady = createReadiness(check, pino({ enabled: false }));
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  for (let i = 0; i < 100; i++) expect(await isReady()).toBe(false);
  expect(check).toHaveBeenCalledTimes(1);
  clock.mockReturnValue(251);
  await isReady();
  expect(check).toHaveBeenCalledTimes(2);
});
