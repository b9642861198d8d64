// waitlist invite: marks the oldest waiting people as invited, and writes their list.
import type { Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Command, Option } from "commander";
import type pg from "pg";
import { OperatorError, printable } from "../../errors.ts";
import { formatCount, countPeople, print, readWholeNumber, withOwner } from "../command.ts";
import { copyInvitation, invitationHeader, readInvitation } from "../../models/operators/export.ts";
import * as invitations from "../../models/operators/invitations.ts";
import { fileOption, readAddresses } from "./read-addresses.ts";
import { countNames, writeList } from "./files.ts";

type Options = Partial<Record<"file" | "source" | "out" | "undo", string>> &
  Partial<Record<"confirmed" | "dryRun" | "list", boolean>> & { first?: number };

/** The options that invite nobody, and so exclude those that choose people. */
const excludingOptions = ["list", "undo"];

export const invite = new Command("invite")
  .summary("invites the oldest waiting people, and writes their list as CSV")
  .description(
    "--first gives the oldest entries that are waiting and not flagged the status invited and the name of a new " +
      "invitation, and --file gives it to those in FILE. invite then writes their list to the new file of --out or, " +
      "without it, to stdout. If that file exists or cannot be written, nobody is invited. The list has each address as it " +
      "is; nobody is invited whose address a spreadsheet could run as a command. If invite was killed or its list is " +
      "lost, find the invitation with --list. Then write its list with export --invitation, or revert it with --undo.",
  )
  .addOption(
    new Option("--first <N>", "invite the N oldest, or all if there are fewer")
      .argParser(readWholeNumber(1, 100_000_000))
      .conflicts(excludingOptions),
  )
  .addOption(fileOption("invite").conflicts(["first", ...excludingOptions]))
  .addOption(
    new Option("--source <SOURCE>", "only people from this source, as stats names it").conflicts(excludingOptions),
  )
  .addOption(new Option("--confirmed", "only people who confirmed their address").conflicts(excludingOptions))
  .addOption(new Option("--dry-run", "print the numbers, and change nothing").conflicts(excludingOptions))
  .option("--out <FILE>", "write the list to FILE")
  .addOption(new Option("--list", "list the invitations, the newest first").conflicts(["out", "undo"]))
  .addOption(new Option("--undo <INVITATION>", "make those who are still invited waiting again").conflicts("out"))
  .action(async (options: Options, command: Command) => {
    const { first, file, list, undo } = options;
    if (!(first || file || list || undo)) {
      command.error("error: name --first N, --file FILE, --list or --undo INVITATION");
    }
    const emails = file === undefined ? undefined : await readAddresses([], file, command);
    await withOwner(async (client) => {
      if (list) return printInvitations(client);
      if (undo) return undoInvitation(client, undo);
      return emails ? invitePeople(client, emails, options) : inviteOldest(client, options);
    });
  });

/** Invites the oldest, and names those whose address is unsafe. */
async function inviteOldest(client: pg.Client, options: Options) {
  const { invitable, unsafe } = invitations.invitableSql(options);
  reportOmitted(await invitations.listEmails(client, unsafe), "a formula for a spreadsheet");
  await inviteMatching(client, invitable, options);
}

/** Invites the people of a file, and names those whom it does not invite. */
async function invitePeople(client: pg.Client, emails: string[], options: Options) {
  const { invitable } = invitations.invitableSql({ ...options, emails });
  const listed = new Set(await invitations.listEmails(client, invitable));
  const omitted = emails.filter((email) => !listed.has(email));
  reportOmitted(omitted, "not on the list, not waiting, flagged, or a formula for a spreadsheet");
  await inviteMatching(client, invitable, options);
}

function reportOmitted(emails: string[], reason: string) {
  if (emails.length > 0) process.stderr.write(`Not invited: ${countNames(emails)}: ${reason}.\n`);
}

async function inviteMatching(client: pg.Client, condition: string, { first, dryRun, out }: Options) {
  if (!dryRun) return writeList(out, (output) => inviteToList(client, condition, first, output));
  const waiting = await invitations.countWaiting(client, condition);
  print(`Would invite ${countPeople(Math.min(waiting, first ?? waiting))}; ${formatCount(waiting)} match.\n`);
  if (waiting === 0) throw nobodyInvited();
}

const nobodyInvited = () => new OperatorError("Nobody was invited: no waiting entry matches.");

/** Invites in one transaction. It ends when the file is on the disk, and before stdout takes the list, so that no reader holds entries. */
async function inviteToList(
  client: pg.Client,
  condition: string,
  first: number | undefined,
  output: Writable,
): Promise<number> {
  const isStdout = output === process.stdout;
  if (isStdout) await printHeader();
  await client.query("BEGIN");
  const invitation = await invitations.nameInvitation(client);
  const people = await invitations.inviteOldest(client, first, condition, invitation);
  if (people === 0) throw nobodyInvited();
  const lines = isStdout && (await buffer(readInvitation(client, invitation, { header: false })));
  if (!isStdout) await copyInvitation(client, invitation, output);
  await client.query("COMMIT");
  process.stderr.write(`Invited ${countPeople(people)} as invitation ${invitation}.\n`);
  if (lines) process.stdout.write(lines);
  return people;
}

/** Writes the first line before anybody is invited: a closed pipe and a full disk refuse it, too. */
async function printHeader() {
  const error = await new Promise<Error | null | undefined>((resolve) =>
    process.stdout.write(invitationHeader, resolve),
  );
  if (error) throw new OperatorError("Nobody was invited: the list cannot be written.", { cause: error });
}

async function undoInvitation(client: pg.Client, invitation: string) {
  print(`Made ${countPeople(await invitations.revertInvitation(client, invitation))} waiting again.\n`);
}

async function printInvitations(client: pg.Client) {
  const list = await invitations.listInvitations(client);
  if (list.length === 0) print("There are no invitations.\n");
  for (const { invitation, people, invited, joined } of list) {
    print(
      `${printable(invitation)}  ${countPeople(people)}, ${formatCount(invited)} still invited, ${formatCount(joined)} joined\n`,
    );
  }
}
