// waitlist joined: marks the people who became customers, so that invite leaves them out.
import { Command } from "commander";
import { markJoined } from "../../models/operators/invitations.ts";
import { formatCount, countPeople, print, withOwner } from "../command.ts";
import { fileOption, readAddresses, requireListed } from "./read-addresses.ts";
import { countNames } from "./files.ts";

export const joined = new Command("joined")
  .summary("gives the entry of each ADDRESS the status joined")
  .description(
    "For people who became customers, with an invitation or without; invite then leaves them out. Changes only entries " +
      "that are waiting or invited. If joined stops midway, run the same command again.",
  )
  .argument("[ADDRESS...]")
  .addOption(fileOption("mark"))
  .action(async (given: string[], { file }: { file?: string }, command: Command) => {
    const emails = await readAddresses(given, file, command);
    await withOwner(async (client) => {
      const before = await markJoined(client, emails);
      const having = (...statuses: string[]) => emails.filter((email) => statuses.includes(before.get(email) ?? ""));
      const missing = emails.filter((email) => !before.has(email));
      print(
        `Marked ${countPeople(having("waiting", "invited").length)} as joined. Joined before: ${formatCount(having("joined").length)}. `,
      );
      print(`Left: ${countNames(having("left"))}. Not on the list: ${countNames(missing)}.\n`);
      requireListed(before.size);
    });
  });
