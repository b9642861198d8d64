// The task purge: deletes entries after the retention period, once a day.
import type { Task } from "graphile-worker";
import { eraseAgain, purgeOld } from "../database/erasures.ts";

/** In UTC. A run that was missed while no worker ran is caught up; several runs that wait are one. */
export const purgeCrontab = "17 3 * * * purge ?fill=1d&jobKey=purge";

/** @param key keeps the hashes of the deleted addresses; undefined keeps none. */
export function purgeTask(months: number, key: string | undefined): Task {
  return async (_payload, helpers) => {
    const query: Parameters<typeof purgeOld>[0] = (sql, values) => helpers.query(sql, values);
    // What a restore with Postgres' own tools brought back.
    const again = key ? await eraseAgain(query, key) : 0;
    const old = await purgeOld(query, months, key);
    helpers.logger.info(`deleted entries older than ${months} months: ${old}, of erased addresses: ${again}`);
  };
}
