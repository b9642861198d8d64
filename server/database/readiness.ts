// Makes the database ready: migrates at the start, with retries in the background, and probes whether sign-ups can be stored.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { errorFields } from "../logger.ts";
import { within } from "./pool.ts";
import type { MigrationResult } from "./migrate.ts";

type Migrate = () => Promise<MigrationResult>;

const retryMs = 5_000;
/** How long the first page waits for the database, so that sign-ups usually work from the first request. */
const pagesWaitMs = 3_000;

/** Postgres is unreachable, starting, stopping or out of connections, or another start holds a lock. */
const transientErrorCodes = new Set(
  "ECONNREFUSED ECONNRESET EPIPE ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT CONNECT_TIMEOUT CONNECTION_LOST 08000 08003 08006 57P01 57P02 57P03 53300 55P03".split(
    " ",
  ),
);

/**
 * Migrates, and retries after transient errors. Resolves when the database is migrated, or after 3 s, and continues in the background.
 * @param onFault called with a permanent error after the promise resolved.
 */
export async function prepareDatabase(
  migrateOnce: Migrate,
  log: Logger,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
): Promise<void> {
  const migrated = migrateWithRetries(migrateOnce, log, signal);
  const late = sleep(pagesWaitMs, "late" as const, { ref: false });
  if ((await Promise.race([migrated, late])) === "late") migrated.catch(onFault);
}

async function migrateWithRetries(migrateOnce: Migrate, log: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const { applied, warnings } = await migrateOnce();
      if (applied?.length) log.info({ applied }, "migrated");
      for (const warning of warnings) log.warn(warning);
      return;
    } catch (error) {
      const fields = errorFields(error);
      if (!transientErrorCodes.has(fields.code ?? "")) throw error;
      log.warn({ error: fields }, "database not available; pages are served, sign-ups wait for it");
    }
    await sleep(retryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** An orchestrator gives a probe 1 or 2 s by default; a probe must be shorter to say 503 itself. */
const probeTimeoutMs = 1_500;

/**
 * Returns the probe of /readyz: true if sign-ups can be stored, false if the check fails or takes longer than 1.5 s.
 * Probes share the result of a check for 250 ms after its end.
 */
export function createReadiness(check: () => Promise<void>, log: Logger): () => Promise<boolean> {
  let probe: Promise<boolean> | undefined;
  let wasReady = true;

  async function probeOnce(): Promise<boolean> {
    const fault = await within(probeTimeoutMs, check()).then(() => undefined, errorFields);
    const ready = fault === undefined;
    // Log changes only: probes come every few seconds.
    if (!ready && wasReady) log.warn({ error: fault }, "sign-ups cannot be stored");
    if (ready && !wasReady) log.info("sign-ups can be stored again");
    wasReady = ready;
    return ready;
  }

  // Each check waits for the database's disk, and anybody may send probes one after the other.
  const forget = () => setTimeout(() => (probe = undefined), 250).unref();
  return () => (probe ??= probeOnce().finally(forget));
}
