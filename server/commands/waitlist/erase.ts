// waitlist erase: removes people who ask for erasure (GDPR, article 17), or who unsubscribed elsewhere.
import { Command } from "commander";
import { eraseEntries, findPeople } from "../../models/operators/erasures.ts";
import { normaliseEmail } from "../../models/sign-up-rules.ts";
import { OperatorError, printable } from "../../errors.ts";
import { countEntries, print, withOwner } from "../command.ts";
import { fileOption, readAddresses } from "./read-addresses.ts";
import { countNames } from "./files.ts";

export const erase = new Command("erase")
  .summary("permanently removes the entry of each ADDRESS")
  .description(
    "Removes all of the entries, or none if a text is neither an email address nor on the list. Earlier backups and " +
      "exports still hold them. Neither a restore with purge nor an import brings them back, and the people can sign up again.",
  )
  .argument("[ADDRESS...]")
  .addOption(fileOption("erase"))
  .action(async (given: string[], { file }: { file?: string }, command: Command) => {
    const emails = await readAddresses(given, file, command);
    await withOwner(async (client) => {
      const listed = new Set<string>();
      const missing: string[] = [];
      for (const email of emails) {
        const people = await findPeople(client, email);
        if (people.length === 0 && !normaliseEmail(email)) {
          throw new OperatorError(`"${printable(email)}" is not an email address. Nothing was removed.`);
        }
        if (people.length === 0) missing.push(email);
        for (const { entry } of people) listed.add(entry.id);
      }
      // A backup may have an entry that the list lacks.
      const spellings = emails.flatMap((email) => normaliseEmail(email) ?? []);
      await eraseEntries(client, [...listed], spellings);
      print(`Removed ${countEntries(listed.size)}. Not on the list: ${countNames(missing)}.\n`);
    });
  });
