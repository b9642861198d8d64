// The task purge: deletes entries that are older than RETENTION_MONTHS, each day.
import type { Task } from "graphile-worker";
import { eraseAgain, purgeOld } from "../models/list/erasures.ts";

/** In UTC. A worker catches up on a missed run; several runs that wait are one. */
export const purgeCrontab = "17 3 * * * purge ?fill=1d&jobKey=purge";

/** Deletes old entries and, with the key of erased addresses, the entries that a restore or an import brought back. */
export function purgeTask(months: number, key: string | undefined): Task {
  return async (_payload, helpers) => {
    const again = key ? await eraseAgain(helpers, key) : 0;
    const old = await purgeOld(helpers, months, key);
    helpers.logger.info(`deleted entries older than ${months} months: ${old}, of erased addresses: ${again}`);
  };
}
