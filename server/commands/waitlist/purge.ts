// waitlist purge: the retention period, entries that nobody confirmed, and addresses that were erased before a restore.
import { Command } from "commander";
import { countBroughtBack, countOld, eraseAgain, purgeOld } from "../../models/operators/erasures.ts";
import { countUnconfirmed, purgeUnconfirmed } from "../../models/operators/unconfirmed.ts";
import { countEntries, print, withOwner } from "../command.ts";

export const purge = new Command("purge")
  .summary(
    "permanently removes the entries that are older than RETENTION_MONTHS, or unconfirmed after UNCONFIRMED_DAYS",
  )
  .description(
    "Without a worker, which purges too, run purge daily, for example with cron. It first removes the entries " +
      "of erased people that a restore or an import brought back.",
  )
  .option("--dry-run", "print the numbers, and change nothing")
  .action(({ dryRun = false }: { dryRun?: boolean }) =>
    withOwner(async (client, _database, { RETENTION_MONTHS: months, UNCONFIRMED_DAYS: days }) => {
      const again = await (dryRun ? countBroughtBack : eraseAgain)(client);
      const verb = dryRun ? "Would remove" : "Removed";
      print(`${verb} ${countEntries(again)} of erased people that a restore or an import brought back.\n`);
      if (days > 0) {
        const unconfirmed = await (dryRun ? countUnconfirmed : purgeUnconfirmed)(client, days);
        print(`${verb} ${countEntries(unconfirmed)} that nobody confirmed within ${days} days.\n`);
      }
      if (months > 0) {
        const old = dryRun ? await countOld(client, months) : await purgeOld(client, months);
        print(`${verb} ${countEntries(old)} older than ${months} ${months === 1 ? "month" : "months"}.\n`);
      } else if (days === 0) {
        print("RETENTION_MONTHS is 0 or not set, so no entry is too old. Set it, for example RETENTION_MONTHS=24.\n");
      }
    }),
  );
