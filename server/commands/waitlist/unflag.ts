// waitlist unflag: clears the flag of a busy day, and sends the mails that it held back.
import { Command } from "commander";
import { clearUnusualVolume } from "../../models/signup-ceiling.ts";
import { countEntries, print, withOwner } from "../command.ts";
import { inPeriod, sinceOption, untilOption, type Period } from "./moment.ts";

export const unflag = new Command("unflag")
  .summary("clears the flag unusual_volume, and queues the confirmation mails that it held back")
  .description(
    "For the day on which more people signed up than SIGNUP_HOURLY_CEILING. Other flags stay. If the site sends " +
      "confirmation mails, each of these entries gets one, unless it is imported, has another flag or is no longer " +
      "waiting.",
  )
  .addOption(sinceOption().makeOptionMandatory())
  .addOption(untilOption())
  .action(async (period: Period) => {
    await withOwner(async (client) => {
      const { cleared, queued } = await clearUnusualVolume(client, inPeriod(period));
      print(`Cleared the flag of ${countEntries(cleared)}. Mails queued: ${queued}.\n`);
    });
  });
