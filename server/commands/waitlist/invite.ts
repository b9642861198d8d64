// waitlist invite: marks the oldest waiting people as invited, and writes their list.
import { open, rm } from "node:fs/promises";
import type { Writable } from "node:stream";
import { Command, InvalidArgumentError, Option } from "commander";
import type pg from "pg";
import { OperatorError, printable, printableName } from "../../operator-messages.ts";
import { copyInvitation } from "../../models/exported-list.ts";
import {
  countWaiting,
  inviteOldest,
  listInvitations,
  nameInvitation,
  revertInvitation,
  invitableCondition,
} from "../../models/invitations.ts";
import { count, countPeople, explainCode, print, withOwner } from "../command.ts";

type Options = Partial<Record<"source" | "out" | "show" | "undo", string>> &
  Partial<Record<"confirmed" | "dryRun" | "list", boolean>> & { first?: number };

/** The options that invite nobody. */
const others = ["list", "show", "undo"];

export const invite = new Command("invite")
  .summary("invites the oldest waiting people, and writes their list as CSV")
  .description(
    "--first takes the oldest entries that are waiting, not flagged, and not in another run of invite. It gives them " +
      "the status invited and the name of a new invitation, 1,000 at a time, and then writes the list to a new FILE or, " +
      "without FILE or with -, to stdout. If FILE exists or cannot be created, nothing changes. If invite was killed or " +
      "its list is lost, find the invitation with --list. Then print its list with --show, or revert it with --undo.",
  )
  .addOption(
    new Option("--first <N>", "invite the N oldest, or all if there are fewer").argParser(readCount).conflicts(others),
  )
  .addOption(new Option("--source <SOURCE>", "only people from this source, as stats names it").conflicts(others))
  .addOption(new Option("--confirmed", "only people who confirmed their address").conflicts(others))
  .addOption(new Option("--dry-run", "print the numbers, and change nothing").conflicts(others))
  .option("--out <FILE>", "write the list to FILE; - is stdout")
  .addOption(new Option("--list", "list the invitations, the newest first").conflicts(["out", "show", "undo"]))
  .addOption(new Option("--show <INVITATION>", "write the list again: those who are still invited").conflicts("undo"))
  .addOption(new Option("--undo <INVITATION>", "make those who are still invited waiting again").conflicts("out"))
  .action(async (options: Options, command: Command) => {
    const { first = 0, source, confirmed = false, dryRun, out, list, show, undo } = options;
    if (!(first || list || show || undo)) command.error("error: name --first N, --list, --show or --undo INVITATION");
    const condition = invitableCondition(source, confirmed);
    await withOwner(async (client) => {
      if (list) await printInvitations(client);
      else if (show) await showInvitation(client, show, out);
      else if (undo) await undoInvitation(client, undo);
      else if (dryRun) {
        const waiting = await countWaiting(client, condition);
        print(`Would invite ${countPeople(Math.min(waiting, first))}; ${count(waiting)} match.\n`);
      } else await writeList(out, (output) => inviteToList(client, first, condition, output));
    });
  });

function readCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Name a whole number from 1, for example 100.");
}

async function inviteToList(client: pg.Client, first: number, condition: string, output: Writable): Promise<void> {
  const invitation = await nameInvitation(client);
  let people = 0;
  try {
    people = await inviteOldest(client, first, condition, invitation);
    const messages = output === process.stdout ? process.stderr : process.stdout;
    const fewer = people < first ? "; nobody else matches" : "";
    if (people > 0) messages.write(`Invited ${countPeople(people)} as invitation ${invitation}${fewer}.\n`);
    if (people > 0) await copyInvitation(client, invitation, output);
  } catch (error) {
    const reason = (error as Error).message.replace(/\.$/, "");
    const remedy = `invite --show ${invitation} prints its list, and invite --undo ${invitation} reverts it.`;
    throw new OperatorError(`${reason}. If invite --list shows invitation ${invitation}: ${remedy}`, { cause: error });
  }
  if (people === 0) throw new OperatorError("Nobody was invited: no waiting entry matches. Nothing was written.");
}

async function showInvitation(client: pg.Client, invitation: string, path?: string): Promise<void> {
  await writeList(path, async (output) => {
    if ((await copyInvitation(client, invitation, output)) > 0) return;
    throw new OperatorError(
      `Nobody of an invitation "${printableName(invitation)}" is still invited. See: waitlist invite --list`,
    );
  });
}

async function undoInvitation(client: pg.Client, invitation: string): Promise<void> {
  const returned = await revertInvitation(client, invitation);
  const left = (await listInvitations(client)).find((other) => other.invitation === invitation)?.people ?? 0;
  if (returned + left === 0)
    throw new OperatorError(`There is no invitation "${printableName(invitation)}". See: waitlist invite --list`);
  const rest = left ? ` ${countPeople(left)} of the invitation had another status already.` : "";
  print(`Made ${countPeople(returned)} waiting again.${rest}\n`);
}

async function printInvitations(client: pg.Client): Promise<void> {
  const invitations = await listInvitations(client);
  if (invitations.length === 0) print("There are no invitations.\n");
  for (const { invitation, people, invited, joined } of invitations)
    print(
      `${printable(invitation)}  ${countPeople(people)}, ${count(invited)} still invited, ${count(joined)} joined\n`,
    );
}

/** Opens stdout or a new file, before anybody is marked; removes the file if `write` fails. */
async function writeList(path = "-", write: (output: Writable) => Promise<void>): Promise<void> {
  if (path === "-") return write(process.stdout);
  const file = await open(path, "wx", 0o600).catch(({ code }: NodeJS.ErrnoException) => {
    const hint = code === "EEXIST" ? "it exists already" : explainCode(code);
    throw new OperatorError(`${printable(path)} cannot be written: ${hint}. Nothing was changed.`);
  });
  const output = file.createWriteStream({ flush: true });
  try {
    await write(output);
  } catch (error) {
    output.destroy(); // Closes the file, also if nothing was written.
    await rm(path, { force: true });
    throw error;
  }
  print(`Wrote ${printable(path)}.\n`);
}
