// waitlist invite: marks the oldest waiting people as invited, and writes their list.
import { open, rm } from "node:fs/promises";
import type { Writable } from "node:stream";
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
import { count, countPeople, print, UsageError } from "../command.ts";
import { readCount, type Arguments, type Command } from "./arguments.ts";
import { withOwner } from "./owner.ts";
import { explainCode } from "./private-file.ts";

export const invite: Command = {
  summary: "invites the oldest waiting people, and writes their list as CSV",
  details: [
    "--first takes the oldest entries that are waiting, not flagged, and not in another run of invite. It gives them the",
    "status invited and the name of a new invitation, 1,000 at a time, and then writes the list to a new FILE or, without",
    "FILE or with -, to stdout. If FILE exists or cannot be created, nothing changes. As in export, an apostrophe guards text",
    "that a spreadsheet could run. If invite was killed or its list is lost, find the invitation with --list. Then print its",
    "list with --show, or revert it with --undo.",
  ].join("\n"),
  positionals: [],
  options: {
    first: { value: "N", description: "invite the N oldest, or all if there are fewer" },
    source: { value: "SOURCE", description: "only people from this source, as stats names it" },
    confirmed: { description: "only people whose address was confirmed by the link in the confirmation mail" },
    "dry-run": { description: "print the numbers, and change nothing" },
    out: { value: "FILE", description: "write the list to FILE; - is stdout" },
    list: { description: "list the invitations, the newest first; a name begins with the time in UTC" },
    show: { value: "INVITATION", description: "write the list of an invitation again: those who are still invited" },
    undo: {
      value: "INVITATION",
      description: "make the people of an invitation waiting again, unless their status changed since",
    },
  },
  run: async (args) => {
    const { value, has } = args;
    checkOptions(args);
    const first = readCount("first", value("first")) ?? 0;
    const condition = invitableCondition(value("source"), has("confirmed"));
    const [shown, undone] = [value("show"), value("undo")];
    await withOwner(async (client) => {
      if (has("list")) await printInvitations(client);
      else if (shown !== undefined) await showInvitation(client, shown, value("out"));
      else if (undone !== undefined) await undoInvitation(client, undone);
      else if (has("dry-run")) {
        const waiting = await countWaiting(client, condition);
        print(`Would invite ${countPeople(Math.min(waiting, first))}; ${count(waiting)} match.\n`);
      } else await writeList(value("out"), (output) => inviteToList(client, first, condition, output));
    });
  },
};

/** @throws UsageError unless the options are --list, --undo, --show with --out, or --first with those that go with it. */
function checkOptions({ value, has }: Arguments): void {
  const given = Object.keys(invite.options).filter((option) => has(option) || value(option) !== undefined);
  const alone = given.find((option) => ["list", "show", "undo"].includes(option));
  const excess = given.find((option) => option !== alone && !(alone === "show" && option === "out"));
  if (alone && excess) throw new UsageError(`--${alone} cannot be combined with --${excess}.`);
  if (alone || given.includes("first")) return;
  throw new UsageError("invite needs --first N, --list, --show INVITATION or --undo INVITATION.");
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
