// The task purge: deletes the entries that are older than RETENTION_MONTHS.
import type { Task } from "graphile-worker";
import { eraseAgain, purgeOld } from "../models/list/erasures.ts";

/** In UTC. A run that was missed while no worker ran is caught up; several runs that wait are one. */
export const purgeCrontab = "17 3 * * * purge ?fill=1d&jobKey=purge";

/**
 * Deletes entries after the retention period, once a day, and erased entries that a restore or an import brought back.
 * @param key of the hashes of erased addresses; undefined stores none, and leaves what was brought back.
 */
export function purgeTask(months: number, key: string | undefined): Task {
  return async (_payload, helpers) => {
    const again = key ? await eraseAgain(helpers, key) : 0;
    const old = await purgeOld(helpers, months, key);
    helpers.logger.info(`deleted entries older than ${months} months: ${old}, of erased addresses: ${again}`);
  };
}
