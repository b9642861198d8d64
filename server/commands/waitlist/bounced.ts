// waitlist bounced: marks the addresses whose mails came back, so that they get no other mail.
import { Command } from "commander";
import { setBounced } from "../../models/operators/bounces.ts";
import { formatCount, countPeople, print, withOwner } from "../command.ts";
import { fileOption, readAddresses, requireListed } from "./read-addresses.ts";
import { countNames } from "./files.ts";

export const bounced = new Command("bounced")
  .summary("marks each ADDRESS whose mails came back, so that it gets no other mail")
  .description(
    "The people stay on the list and in its numbers. They get neither a confirmation mail nor a mailing, also if they " +
      "wait for one. bounced marks all of the addresses, or none if a text is no email address.",
  )
  .argument("[ADDRESS...]")
  .addOption(fileOption("mark"))
  .option("--undo", "remove the marks; retry then sends confirmation mails that are missing")
  .action(async (given: string[], { file, undo = false }: { file?: string; undo?: boolean }, command: Command) => {
    const emails = await readAddresses(given, file, command);
    await withOwner(async (client) => {
      const listed = await setBounced(client, emails, !undo);
      const changed = countPeople(emails.filter((email) => listed.get(email) === true).length);
      const others = emails.filter((email) => listed.get(email) === false);
      const missing = emails.filter((email) => !listed.has(email));
      print(
        undo
          ? `Removed the mark of ${changed}. Not marked: ${countNames(others)}. `
          : `Marked ${changed} as bounced. Marked before, or refused by the mail server: ${formatCount(others.length)}. `,
      );
      print(`Not on the list: ${countNames(missing)}.\n`);
      requireListed(listed.size);
    });
  });
