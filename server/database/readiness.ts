// The readiness probe: whether sign-ups can be stored, with a timeout and a short cache.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { errorFields } from "./error-fields.ts";

/** An orchestrator gives a probe 1 or 2 s by default; a probe must be shorter to say 503 itself. */
const probeTimeoutMs = 1_500;
/** How long a result is cached: anybody may send probes, and each check waits for the database's disk or opens a connection. */
const validMs = 250;

/** @param check rejects with the fault. Concurrent probes share one check. */
export function createReadiness(check: () => Promise<void>, log: Logger): () => Promise<boolean> {
  let probe: Promise<boolean> | undefined;
  let wasReady: boolean | undefined;
  let validUntil = 0;

  async function look(): Promise<boolean> {
    const fault = await check().then(
      () => undefined,
      (error: unknown) => errorFields(error),
    );
    const ready = fault === undefined;
    // Log changes only: probes come every few seconds.
    if (!ready && wasReady !== false) log.warn({ error: fault }, "sign-ups cannot be stored");
    if (ready && wasReady === false) log.info("sign-ups can be stored again");
    wasReady = ready;
    validUntil = performance.now() + validMs;
    return ready;
  }

  return async function isReady() {
    if (wasReady !== undefined && performance.now() < validUntil) return wasReady;
    probe ??= look().finally(() => (probe = undefined));
    const cancel = new AbortController();
    const late = sleep(probeTimeoutMs, false, { signal: cancel.signal }).catch(() => false);
    try {
      return await Promise.race([probe, late]);
    } finally {
      cancel.abort();
    }
  };
}
