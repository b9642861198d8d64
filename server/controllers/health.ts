// The probes: /healthz says that the process answers, /readyz whether sign-ups can be stored.
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { within } from "../database/pool.ts";
import { errorFields } from "../errors.ts";
import { requireRead } from "../middleware/errors.ts";

export const live: RequestHandler = (req, res) => {
  requireRead(req);
  res.set("Cache-Control", "no-store").json({ status: "ok" });
};

export function ready(isReady: () => Promise<boolean>): RequestHandler {
  return async function sendReadiness(req, res) {
    requireRead(req);
    const ok = await isReady();
    res.set("Cache-Control", "no-store").status(ok ? 200 : 503);
    res.json({ status: ok ? "ok" : "database unavailable" });
  };
}

/** An orchestrator gives a probe 1 or 2 s by default; a probe must be shorter to say 503 itself. */
const probeTimeoutMs = 1_500;

/**
 * Returns the check of /readyz: true if sign-ups can be stored, false if the check fails or takes longer than 1.5 s.
 * Probes share the result of a check for 250 ms after its end.
 */
export function createReadiness(check: () => Promise<void>, log: Logger): () => Promise<boolean> {
  let probe: Promise<boolean> | undefined;
  let wasReady = true;

  async function probeOnce(): Promise<boolean> {
    const fault = await within(probeTimeoutMs, check()).then(() => undefined, errorFields);
    const isReady = fault === undefined;
    // Log changes only: probes come every few seconds.
    if (!isReady && wasReady) log.warn({ error: fault }, "sign-ups cannot be stored");
    if (isReady && !wasReady) log.info("sign-ups can be stored again");
    wasReady = isReady;
    return isReady;
  }

  // Each check waits for the database's disk, and anybody may send probes one after the other.
  const forget = () => setTimeout(() => (probe = undefined), 250).unref();
  return () => (probe ??= probeOnce().finally(forget));
}
