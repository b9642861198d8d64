// waitlist joined: marks the people who became customers, so that invite leaves them out.
import { Command } from "commander";
import { spellingsOf } from "../../models/list/erasures.ts";
import { markJoined } from "../../models/list/invitations.ts";
import { normaliseEmail } from "../../models/waitlist-entry.ts";
import { OperatorError, printableName } from "../../errors.ts";
import { count, countPeople, print, withOwner } from "../command.ts";
import { readAddresses } from "./csv-file.ts";
import { countNames } from "./files.ts";

export const joined = new Command("joined")
  .summary("gives the entry of each ADDRESS the status joined")
  .description(
    "For people who became customers, with an invitation or without; invite then leaves them out. Changes only entries " +
      "that are waiting or invited. If joined stops midway, run the same command again.",
  )
  .argument("[ADDRESS...]")
  .option("--file <FILE>", "the addresses in FILE: one a line, or the column email of a CSV file")
  .action(async (given: string[], { file }: { file?: string }, command: Command) => {
    const emails = await readAddresses(given, file, command);
    const wrong = emails.find((email) => !normaliseEmail(email));
    if (wrong !== undefined)
      throw new OperatorError(`"${printableName(wrong)}" is not an email address. Nothing was changed.`);
    const people = emails.map(spellingsOf);
    await withOwner(async (client) => {
      const before = await markJoined(client, people.flat());
      const having = (...statuses: string[]) =>
        [...before.keys()].filter((email) => statuses.includes(before.get(email) ?? ""));
      const missing = people.flatMap(([typed, email]) => (before.has(typed) || before.has(email) ? [] : [typed]));
      print(
        `Marked ${countPeople(having("waiting", "invited").length)} as joined. Joined before: ${count(having("joined").length)}. `,
      );
      print(`Left: ${countNames(having("left"))}. Not on the list: ${countNames([...new Set(missing)])}.\n`);
    });
  });
