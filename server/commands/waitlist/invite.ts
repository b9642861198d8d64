// waitlist invite: marks the oldest waiting people as invited, and writes their list.
import type { Writable } from "node:stream";
import { Command, Option } from "commander";
import type pg from "pg";
import { OperatorError } from "../../errors.ts";
import { printable } from "../../text.ts";
import { copyInvitation } from "../../models/operators/export.ts";
import * as invitations from "../../models/operators/invitations.ts";
import { count, countPeople, print, readWholeNumber, withOwner } from "../command.ts";
import { fileOption, readPeople } from "./read-addresses.ts";
import { countNames, writeList } from "./files.ts";

type Options = Partial<Record<"file" | "source" | "out" | "show" | "undo", string>> &
  Partial<Record<"confirmed" | "dryRun" | "list", boolean>> & { first?: number };

/** The options that invite nobody. */
const others = ["list", "show", "undo"];

export const invite = new Command("invite")
  .summary("invites the oldest waiting people, and writes their list as CSV")
  .description(
    "--first gives the oldest entries that are waiting and not flagged the status invited and the name of a new " +
      "invitation, and --file gives it to those in FILE. invite then writes their list to the new file of --out or, " +
      "without it, to stdout. If that file exists or cannot be created, nothing changes. The list has each address as it " +
      "is; nobody is invited whose address a spreadsheet could run as a command. If invite was killed or its list is " +
      "lost, find the invitation with --list. Then print its list with --show, or revert it with --undo.",
  )
  .addOption(
    new Option("--first <N>", "invite the N oldest, or all if there are fewer")
      .argParser(readWholeNumber(1, 100_000_000))
      .conflicts(others),
  )
  .addOption(fileOption("invite").conflicts(["first", ...others]))
  .addOption(new Option("--source <SOURCE>", "only people from this source, as stats names it").conflicts(others))
  .addOption(new Option("--confirmed", "only people who confirmed their address").conflicts(others))
  .addOption(new Option("--dry-run", "print the numbers, and change nothing").conflicts(others))
  .option("--out <FILE>", "write the list to FILE")
  .addOption(new Option("--list", "list the invitations, the newest first").conflicts(["out", "show", "undo"]))
  .addOption(new Option("--show <INVITATION>", "write the list again: those who are still invited").conflicts("undo"))
  .addOption(new Option("--undo <INVITATION>", "make those who are still invited waiting again").conflicts("out"))
  .action(async (options: Options, command: Command) => {
    const { first, file, out, list, show, undo } = options;
    if (!(first || file || list || show || undo)) {
      command.error("error: name --first N, --file FILE, --list, --show or --undo INVITATION");
    }
    const people = file === undefined ? undefined : await readPeople([], file, command);
    await withOwner(async (client) => {
      if (list) return printInvitations(client);
      if (show) return printInvitation(client, show, out);
      if (undo) return undoInvitation(client, undo);
      return people ? invitePeople(client, people, options) : inviteOldest(client, options);
    });
  });

/** Invites the oldest, and names those whose address is unsafe. */
async function inviteOldest(client: pg.Client, options: Options) {
  const { invitable, unsafe } = invitations.invitableSql(options);
  reportOmitted(await invitations.listEmails(client, unsafe), "a formula for a spreadsheet");
  await inviteMatching(client, invitable, options);
}

/** Invites the people of a file, and names those whom it does not invite. @param people the spellings of each address. */
async function invitePeople(client: pg.Client, people: [typed: string, normalised: string][], options: Options) {
  const { invitable } = invitations.invitableSql({ ...options, emails: people.flat() });
  const listed = new Set(await invitations.listEmails(client, invitable));
  const omitted = people.filter((spellings) => !spellings.some((email) => listed.has(email)));
  const reason = "not on the list, not waiting, flagged, or a formula for a spreadsheet";
  reportOmitted(
    omitted.map(([typed]) => typed),
    reason,
  );
  await inviteMatching(client, invitable, options);
}

function reportOmitted(emails: string[], reason: string) {
  if (emails.length > 0) process.stderr.write(`Not invited: ${countNames(emails)}: ${reason}.\n`);
}

async function inviteMatching(client: pg.Client, condition: string, { first = Infinity, dryRun, out }: Options) {
  if (!dryRun) return writeList(out, (output) => inviteToList(client, first, condition, output));
  const waiting = await invitations.countWaiting(client, condition);
  return print(`Would invite ${countPeople(Math.min(waiting, first))}; ${count(waiting)} match.\n`);
}

async function inviteToList(client: pg.Client, first: number, condition: string, output: Writable): Promise<number> {
  const invitation = await invitations.nameInvitation(client);
  try {
    const people = await invitations.inviteOldest(client, first, condition, invitation);
    if (people > 0) {
      process.stderr.write(`Invited ${countPeople(people)} as invitation ${invitation}.\n`);
      return await copyInvitation(client, invitation, output);
    }
  } catch (error) {
    const reason = (error as Error).message.replace(/\.$/, "");
    const remedy = `invite --show ${invitation} prints its list, and invite --undo ${invitation} reverts it.`;
    throw new OperatorError(`${reason}. If invite --list shows invitation ${invitation}: ${remedy}`, { cause: error });
  }
  throw new OperatorError("Nobody was invited: no waiting entry matches. Nothing was written.");
}

async function printInvitation(client: pg.Client, invitation: string, out: string | undefined) {
  await writeList(out, async (output) => requirePeople(await copyInvitation(client, invitation, output), invitation));
}

async function undoInvitation(client: pg.Client, invitation: string) {
  const people = requirePeople(await invitations.revertInvitation(client, invitation), invitation);
  print(`Made ${countPeople(people)} waiting again.\n`);
}

function requirePeople(people: number, invitation: string): number {
  if (people > 0) return people;
  throw new OperatorError(
    `Nobody of the invitation "${printable(invitation)}" is still invited. See: waitlist invite --list`,
  );
}

async function printInvitations(client: pg.Client) {
  const list = await invitations.listInvitations(client);
  if (list.length === 0) print("There are no invitations.\n");
  for (const { invitation, people, invited, joined } of list) {
    print(
      `${printable(invitation)}  ${countPeople(people)}, ${count(invited)} still invited, ${count(joined)} joined\n`,
    );
  }
}
