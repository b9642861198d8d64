// Waits for a condition, with a deadline.
import { setTimeout as sleep } from "node:timers/promises";

/** Calls `check` until it returns a truthy value, and returns that value. @throws after `seconds`. */
export async function until<T>(
  condition: string,
  check: () => T | Promise<T>,
  seconds = 20,
  intervalMs = 40,
): Promise<T> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`After ${seconds} s, this does not hold: ${condition}.`);
    await sleep(intervalMs);
  }
}
