// Migrates at the start, without making the pages wait for a database that is not there yet.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { errorFields } from "./error-fields.ts";
import { migrate, type DatabaseUrls } from "./migrate.ts";
import { formatFinding } from "./role-findings.ts";

export interface StartDatabase extends DatabaseUrls {
  /** False refuses a web role that is a superuser or the owner. */
  allowPrivilegedRole: boolean;
}

const firstRetryMs = 1_000;
const longestRetryMs = 30_000;
/** How long the pages wait for the first attempt, so that in the usual case they come with sign-ups that work. */
const patienceMs = 3_000;

/** Away, starting, stopping, out of connections, or a lock that another start holds: it may work later. */
const passing = new Set(
  "ECONNREFUSED ECONNRESET EPIPE ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ETIMEDOUT CONNECT_TIMEOUT CONNECTION_LOST 08000 08003 08006 57P01 57P02 57P03 53300 55P03".split(
    " ",
  ),
);

/**
 * Migrates, and tries again until it could; resolves after the first attempt or after a few seconds, and goes on
 * by itself. A fault that does not pass rejects, or goes to `onFault` when it comes later.
 */
export async function prepareDatabase(
  database: StartDatabase,
  log: Logger,
  signal: AbortSignal,
  onFault: (error: unknown) => void,
): Promise<void> {
  const first = tryMigrate(database, log);
  const waited = await Promise.race([first, sleep(patienceMs, "late" as const, { ref: false })]);
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
    if (!passing.has(fields.code ?? "")) throw error;
    log.warn({ error: fields }, "database not available; pages are served, sign-ups wait for it");
    return false;
  }
}
