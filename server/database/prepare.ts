// Migrates at the start, without making the pages wait for a database that is not there yet.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { errorFields } from "./error-fields.ts";
import { migrate, type DatabaseUrls } from "./migrate.ts";

const firstRetryMs = 1_000;
const longestRetryMs = 30_000;

/** The system's and Postgres' codes for "not now": away, starting, stopping or out of connections. */
const passing = /^(E[A-Z_]+|08\d{3}|57P0[123]|53\d{3})$/;

/**
 * Migrates once. Where the database cannot be reached it resolves all the same and goes on trying, until `signal`
 * aborts; any other fault rejects, or goes to `onFault` when it comes later.
 */
export async function prepareDatabase(
  urls: DatabaseUrls,
  log: Logger,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
): Promise<void> {
  if (await tryMigrate(urls, log)) return;
  void retry(urls, log, signal).catch(onFault);
}

async function retry(urls: DatabaseUrls, log: Logger, signal: AbortSignal): Promise<void> {
  for (let delay = firstRetryMs; !signal.aborted; delay = Math.min(delay * 2, longestRetryMs)) {
    await sleep(delay, undefined, { signal }).catch(() => undefined);
    if (signal.aborted || (await tryMigrate(urls, log))) return;
  }
}

async function tryMigrate(urls: DatabaseUrls, log: Logger): Promise<boolean> {
  try {
    const { applied, webRole } = await migrate(urls);
    if (applied.length > 0) log.info({ applied }, "migrated");
    if (webRole === "owner") {
      log.warn(
        "DATABASE_URL names the database's owner, so the web process could read and change the waitlist. Set DATABASE_OWNER_URL to it and DATABASE_URL to a role of its own, which is then made.",
      );
    }
    return true;
  } catch (error) {
    if (!isPassing(error)) throw error;
    log.warn({ error: errorFields(error) }, "database not reachable; pages are served, sign-ups wait for it");
    return false;
  }
}

function isPassing(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  // node-postgres gives its own time-out and a closed connection no code.
  return code === undefined ? /timeout expired|Connection terminated/.test(message ?? "") : passing.test(code);
}
