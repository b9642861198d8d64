// Prepares the database for the site: migrates it and examines the web role, again until both succeed.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { databaseOf } from "../config/database-urls.ts";
import type { Config } from "../config/settings.ts";
import { errorFields, OperatorError } from "../errors.ts";
import { migrate } from "./migrate.ts";
import type { DatabaseSettings } from "./open-database.ts";
import { examineWebRole, privilegedRole } from "./roles.ts";

/** Postgres is unreachable, starting, stopping or out of connections, or another start holds a lock. */
export const transientCode =
  /^(?:ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|CONNECT|0800[036]|57P0[123]|53300|55P03)/;

/** The role may not log in or has another password, or there is no database of that name. */
const loginRefused = /^(?:28P01|28000|3D000)$/;
/** The role may not connect to the database. With a privileged role, it may be one that lacks a right to migrate. */
const rightMissing = "42501";

/**
 * Migrates for the site, then examines the web role as soon as it can log in. @param onAccepted called when the role has been examined.
 * @throws OperatorError if the role may do too much, or the database cannot be migrated.
 */
export async function prepareDatabase(
  settings: DatabaseSettings,
  { ALLOW_PRIVILEGED_ROLE: allowPrivilegedRole, isProduction }: Pick<Config, "ALLOW_PRIVILEGED_ROLE" | "isProduction">,
  log: Logger,
  signal: AbortSignal,
  onAccepted: () => void,
): Promise<void> {
  let isMigrated = false;

  async function prepare() {
    const applied = isMigrated ? [] : await migrate(settings, { allowPrivilegedRole, isMeant: isProduction });
    if (applied?.length) log.info({ applied }, "migrated");
    isMigrated = true;
    const warning = await examineWebRole(settings.webUrl, allowPrivilegedRole);
    if (warning) log.warn(warning);
  }

  function mayPass(code = ""): boolean {
    if (code === privilegedRole) return false;
    // Without an owner's URL, as in Docker Compose, the site migrates nothing, and logs in as the web role only.
    const isRefused = loginRefused.test(code) || (code === rightMissing && !allowPrivilegedRole);
    return isMigrated || (isRefused && settings.ownerUrl === settings.webUrl) || transientCode.test(code);
  }

  while (!signal.aborted) {
    try {
      await prepare();
      return onAccepted();
    } catch (cause) {
      const error = errorFields(cause);
      if (!mayPass(error.code)) throw cause;
      const reason = cause instanceof OperatorError ? cause.message : undefined;
      const fields = { error, reason, database: databaseOf(settings.webUrl) };
      log.warn(fields, "database not available; pages are served, sign-ups get 503");
    }
    // Rejects if the site stops.
    await sleep(5_000, undefined, { signal }).catch(() => undefined);
  }
}
