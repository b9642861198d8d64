// The probe behind /readyz: anybody may ask it, and the database shall not notice.
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { createReadiness } from "./readiness.ts";

it("looks once for all who ask within a quarter of a second, while all is well", async () => {
  const check = vi.fn<() => Promise<void>>(async () => undefined);
  const isReady = createReadiness(check, pino({ enabled: false }));
  for (let i = 0; i < 100; i++) expect(await isReady()).toBe(true);
  expect(check).toHaveBeenCalledTimes(1);
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 251);
  await isReady();
  expect(check).toHaveBeenCalledTimes(2);
});

it("looks again at once where something was wrong", async () => {
  const check = vi.fn<() => Promise<void>>(() => Promise.reject(new Error("away")));
  const isReady = createReadiness(check, pino({ enabled: false }));
  expect([await isReady(), await isReady()]).toEqual([false, false]);
  expect(check).toHaveBeenCalledTimes(2);
});
