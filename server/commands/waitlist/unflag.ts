// waitlist unflag: clears the flag of a busy day, and sends the mails that it held back.
import { clearFlag, countFlagged } from "../../models/signup-volume.ts";
import { countEntries, print, UsageError } from "../command.ts";
import type { Command } from "./arguments.ts";
import { periodOptions, readPeriod } from "./moment.ts";
import { withOwner } from "./owner.ts";

export const unflag: Command = {
  summary: "clears the flag unusual_volume, and queues the confirmation mails that it held back",
  details: [
    "For the day on which more people signed up than SIGNUP_HOURLY_CEILING. Other flags stay. If the site sends confirmation",
    "mails, each of these entries gets one, unless it is imported, has another flag or is no longer waiting. A second run",
    "finds nothing to do.",
  ].join("\n"),
  positionals: [],
  options: {
    since: periodOptions.since,
    until: periodOptions.until,
    "dry-run": { description: "print the number of entries, and change nothing" },
  },
  run: async ({ value, has }) => {
    if (value("since") === undefined) throw new UsageError("unflag needs --since DATE. See: waitlist unflag --help");
    const period = readPeriod(value);
    await withOwner(async (client) => {
      if (has("dry-run")) {
        print(`Would clear the flag of ${countEntries(await countFlagged(client, period))}.\n`);
        return;
      }
      const { cleared, queued } = await clearFlag(client, period);
      print(`Cleared the flag of ${countEntries(cleared)}. Mails queued: ${queued}.\n`);
    });
  },
};
