// The task purge: deletes old and unconfirmed entries every day, and the entries that a restore or an import brought back.
import type { Task } from "graphile-worker";
import type { Config } from "../config/settings.ts";
import { eraseAgain, purgeOld } from "../models/operators/erasures.ts";
import { purgeUnconfirmed } from "../models/operators/unconfirmed.ts";

/** In UTC. A worker catches up on a missed run; several runs that wait are one. */
export const purgeCrontab = "17 3 * * * purge ?fill=1d&jobKey=purge";

export function purgeTask({ RETENTION_MONTHS: months, UNCONFIRMED_DAYS: days }: Config): Task {
  return async (_payload, helpers) => {
    const again = await eraseAgain(helpers);
    const old = await purgeOld(helpers, months);
    const unconfirmed = await purgeUnconfirmed(helpers, days);
    helpers.logger.info(
      `deleted entries older than ${months} months: ${old}, of erased addresses: ${again}, never confirmed: ${unconfirmed}`,
    );
  };
}
