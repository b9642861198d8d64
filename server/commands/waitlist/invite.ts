// waitlist invite: marks the oldest waiting people as invited, and writes their list.
import type { Writable } from "node:stream";
import { Command, InvalidArgumentError, Option } from "commander";
import type pg from "pg";
import { OperatorError } from "../../errors.ts";
import { printable } from "../../text.ts";
import { copyInvitation } from "../../models/operators/export.ts";
import * as invitations from "../../models/operators/invitations.ts";
import { count, countPeople, print, withOwner } from "../command.ts";
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
    new Option("--first <N>", "invite the N oldest, or all if there are fewer").argParser(readCount).conflicts(others),
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
    if (!(first || file || list || show || undo))
      command.error("error: name --first N, --file FILE, --list, --show or --undo INVITATION");
    const chosen = file === undefined ? undefined : await readPeople([], file, command);
    await withOwner(async (client) => {
      if (list) await printInvitations(client);
      else if (show)
        await writeList(out, async (output) => requirePeople(await copyInvitation(client, show, output), show));
      else if (undo) {
        const people = requirePeople(await invitations.revertInvitation(client, undo), undo);
        print(`Made ${countPeople(people)} waiting again.\n`);
      } else await inviteGroup(client, options, chosen);
    });
  });

function readCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Name a whole number from 1, for example 100.");
}

/** Names those who are not invited: people of the file or, without one, those whose address is unsafe. */
async function inviteGroup(client: pg.Client, options: Options, chosen?: [typed: string, normalised: string][]) {
  const { first = Infinity, source, confirmed, dryRun, out } = options;
  const { invitable, unsafe } = invitations.invitableSql({ source, confirmed, emails: chosen?.flat() });
  const listed = new Set(await invitations.listEmails(client, chosen ? invitable : unsafe));
  const omitted = chosen
    ? chosen.filter((spellings) => !spellings.some((email) => listed.has(email))).map(([typed]) => typed)
    : [...listed];
  const reason = `${chosen ? "not on the list, not waiting, flagged, or " : ""}a formula for a spreadsheet`;
  if (omitted.length > 0) process.stderr.write(`Not invited: ${countNames(omitted)}: ${reason}.\n`);
  if (dryRun) {
    const waiting = await invitations.countWaiting(client, invitable);
    print(`Would invite ${countPeople(Math.min(waiting, first))}; ${count(waiting)} match.\n`);
  } else await writeList(out, (output) => inviteToList(client, first, invitable, output));
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

function requirePeople(people: number, invitation: string): number {
  if (people > 0) return people;
  throw new OperatorError(
    `Nobody of the invitation "${printable(invitation)}" is still invited. See: waitlist invite --list`,
  );
}

async function printInvitations(client: pg.Client) {
  const list = await invitations.listInvitations(client);
  if (list.length === 0) print("There are no invitations.\n");
  for (const { invitation, people, invited, joined } of list)
    print(
      `${printable(invitation)}  ${countPeople(people)}, ${count(invited)} still invited, ${count(joined)} joined\n`,
    );
}
