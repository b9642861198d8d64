// waitlist unflag: clears the flag of a busy day, and sends the mails that it held back.
import { Command } from "commander";
import { clearFlag, countFlagged } from "../../models/signup-volume.ts";
import { countEntries, print, UsageError, withOwner } from "../command.ts";
import { periodOptions, readPeriod, type Dates } from "./moment.ts";

export const unflag = new Command("unflag")
  .summary("clears the flag unusual_volume, and queues the confirmation mails that it held back")
  .description(
    "For the day on which more people signed up than SIGNUP_HOURLY_CEILING. Other flags stay. If the site sends " +
      "confirmation mails, each of these entries gets one, unless it is imported, has another flag or is no longer " +
      "waiting. A second run finds nothing to do.",
  )
  .option(...periodOptions.since)
  .option(...periodOptions.until)
  .option("--dry-run", "print the number of entries, and change nothing")
  .action(async ({ dryRun, ...dates }: Dates & { dryRun?: boolean }) => {
    if (dates.since === undefined) throw new UsageError("unflag needs --since DATE. See: waitlist unflag --help");
    const period = readPeriod(dates);
    await withOwner(async (client) => {
      if (dryRun) return print(`Would clear the flag of ${countEntries(await countFlagged(client, period))}.\n`);
      const { cleared, queued } = await clearFlag(client, period);
      print(`Cleared the flag of ${countEntries(cleared)}. Mails queued: ${queued}.\n`);
    });
  });
