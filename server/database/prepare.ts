// Migrates at the start and retries in the background, so that pages do not wait for an unreachable database.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { errorFields } from "./error-fields.ts";
import { migrate, type DatabaseUrls } from "./migrate.ts";
import { formatFinding } from "./roles/finding.ts";

export interface StartDatabase extends DatabaseUrls {
  /** False refuses a web role that is a superuser or the owner. */
  allowPrivilegedRole: boolean;
}

const firstRetryMs = 1_000;
const longestRetryMs = 30_000;
/** How long the start waits for the first attempt, so that sign-ups usually work from the first request. */
const firstAttemptMs = 3_000;

/** Postgres is unreachable, starting, stopping or out of connections, or another start holds a lock. */
const transientErrorCodes = new Set(
  "ECONNREFUSED ECONNRESET EPIPE ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT CONNECT_TIMEOUT CONNECTION_LOST 08000 08003 08006 57P01 57P02 57P03 53300 55P03".split(
    " ",
  ),
);

/**
 * Migrates, and retries after transient errors. Resolves after the first attempt or 3 s, and continues in the background.
 * @param onFault called with a permanent error after the promise resolved.
 * @throws a permanent error.
 */
export async function prepareDatabase(
  database: StartDatabase,
  log: Logger,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
): Promise<void> {
  const first = tryMigrate(database, log);
  const waited = await Promise.race([first, sleep(firstAttemptMs, "late" as const, { ref: false })]);
  if (waited === true) return;
  void first.then((done) => (done ? undefined : retry(database, log, signal))).catch(onFault);
}

async function retry(database: StartDatabase, log: Logger, signal: AbortSignal): Promise<void> {
  for (let delay = firstRetryMs; !signal.aborted; delay = Math.min(delay * 2, longestRetryMs)) {
    await sleep(delay, undefined, { signal }).catch(() => undefined);
    if (signal.aborted || (await tryMigrate(database, log))) return;
  }
}

async function tryMigrate(database: StartDatabase, log: Logger): Promise<boolean> {
  try {
    const { applied, rights, findings } = await migrate(database, database.allowPrivilegedRole);
    if (applied.length > 0) log.info({ applied }, "migrated");
    if (rights.length > 0) log.info({ statements: rights }, "roles set up");
    for (const finding of findings) log.warn({ severity: finding.severity }, formatFinding(finding));
    return true;
  } catch (error) {
    const fields = errorFields(error);
    if (!transientErrorCodes.has(fields.code ?? "")) throw error;
    log.warn({ error: fields }, "database not available; pages are served, sign-ups wait for it");
    return false;
  }
}
