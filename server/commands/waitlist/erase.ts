// waitlist erase: removes people who ask for erasure (GDPR, article 17), or who unsubscribed elsewhere.
import { Command } from "commander";
import { eraseEntries, findPerson } from "../../models/operators/erasures.ts";
import { countEntries, print, withOwner } from "../command.ts";
import { fileOption, readAddresses, requireListed } from "./read-addresses.ts";
import { countNames } from "./files.ts";

export const erase = new Command("erase")
  .summary("permanently removes the entry of each ADDRESS")
  .description(
    "Removes all of the entries, or none if a text is no email address. Earlier backups and exports still hold them. " +
      "Neither a restore with purge nor an import brings them back, and the people can sign up again.",
  )
  .argument("[ADDRESS...]")
  .addOption(fileOption("erase"))
  .action(async (given: string[], { file }: { file?: string }, command: Command) => {
    const emails = await readAddresses(given, file, command);
    await withOwner(async (client) => {
      const ids: string[] = [];
      const missing: string[] = [];
      for (const email of emails) {
        const person = await findPerson(client, email);
        if (person) ids.push(person.entry.id);
        else missing.push(email);
      }
      await eraseEntries(client, ids, emails);
      print(`Removed ${countEntries(ids.length)}. Not on the list: ${countNames(missing)}.\n`);
      requireListed(ids.length);
    });
  });
