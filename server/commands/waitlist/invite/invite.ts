// waitlist invite: marks the oldest waiting people as a batch, and writes their list.
import type pg from "pg";
import { OperatorError, printable, printableLines } from "../../../operator-messages.ts";
import { UsageError } from "../../command.ts";
import { print } from "../../print.ts";
import { readCount, type Arguments, type Command } from "../command.ts";
import { copyToFile } from "../copy.ts";
import { withOwner } from "../owner.ts";
import { writePrivately } from "../private-file.ts";
import { count, countPeople } from "../progress.ts";
import { countChosen, listBatches, markOldest, nameBatch, undoBatch, type Batch, type Choice } from "./batches.ts";
import { readFormat } from "./formats.ts";

export const invite: Command = {
  summary: "invites the oldest waiting people as a batch, and writes their list",
  details: [
    "--first takes the oldest entries that are waiting, not flagged, and not in another run of invite. It gives them the",
    "status invited and the name of a new batch, 1,000 at a time, and then writes the list to FILE or, without FILE or with",
    "-, to stdout. If FILE cannot be created, nothing changes. The formats mailchimp, brevo and listmonk have the columns",
    "that the import of that tool documents. They split a name at its last space. As in export, an apostrophe guards text",
    "that a spreadsheet could run. If invite was killed or its list is lost, find the batch with --list, revert it with",
    "--undo, and run invite again.",
  ].join("\n"),
  positionals: [],
  options: {
    first: { value: "N", description: "invite the N oldest, or all if there are fewer" },
    source: { value: "SOURCE", description: "only people from this source, as stats names it" },
    confirmed: { description: "only people whose address was confirmed by the link in the confirmation mail" },
    "dry-run": { description: "print the numbers, and change nothing" },
    out: { value: "FILE", description: "write the list to FILE; - is stdout" },
    format: { value: "FORMAT", description: "csv (the default), mailchimp, brevo or listmonk" },
    list: { description: "list the batches, the newest first; a name begins with the time in UTC" },
    undo: {
      value: "BATCH",
      description: "make the people of a batch waiting again, unless their status changed since",
    },
  },
  run: async (args) => {
    const { value, has } = args;
    checkOptions(args);
    const list = { file: value("out") ?? "-", copy: readFormat(value("format") ?? "csv") };
    const batch = value("undo");
    const first = readCount("first", value("first")) ?? 0;
    const choice = { first, source: value("source") ?? null, confirmed: has("confirmed") };
    await withOwner(async (client) => {
      if (has("list")) print(describeBatches(await listBatches(client)));
      else if (batch !== undefined) print(describeUndo(await undoBatch(client, batch)));
      else if (has("dry-run")) print(describeDryRun(await countChosen(client, choice), first));
      else await inviteOldest(client, choice, list);
    });
  },
};

/** @throws UsageError unless the options are --list, --undo, or --first with those that go with it. */
function checkOptions({ value, has }: Arguments): void {
  const given = Object.keys(invite.options).filter((option) => has(option) || value(option) !== undefined);
  const alone = given.find((option) => option === "list" || option === "undo");
  if (alone && given.length > 1) throw new UsageError(`--${alone} cannot be combined with another option.`);
  if (!alone && !given.includes("first")) throw new UsageError("invite needs --first N, --list or --undo BATCH.");
}

interface List {
  /** A path, or "-" for stdout. */
  file: string;
  copy: (batch: string) => string;
}

async function inviteOldest(client: pg.Client, choice: Choice, { file, copy }: List): Promise<void> {
  const batch = await nameBatch(client);
  let mayBeMarked = false;
  const markAndWrite = async (output: string) => {
    mayBeMarked = true;
    const people = await markOldest(client, choice, batch);
    mayBeMarked = people > 0;
    // An error, because an earlier list may be in the file.
    if (people === 0) throw new OperatorError("Nobody was invited: no waiting entry matches. Nothing was written.");
    const fewer = people < choice.first ? "; nobody else matches" : "";
    report(file, `Invited ${countPeople(people)} as batch ${batch}${fewer}.\n`);
    await copyToFile(client, copy(batch), output);
  };
  try {
    if (file === "-") await markAndWrite(file);
    else {
      await writePrivately(file, markAndWrite);
      print(`Wrote ${printable(file)}.\n`);
    }
  } catch (error) {
    if (!mayBeMarked) throw error;
    const reason = (error as Error).message.replace(/\.$/, "");
    const remedy = `If invite --list shows batch ${batch}, run invite --undo ${batch}, and invite again.`;
    throw new OperatorError(`${reason}. ${remedy}`, { cause: error });
  }
}

/** Writes to stderr if stdout has the list. */
function report(file: string, text: string): void {
  if (file === "-") process.stderr.write(printableLines(text));
  else print(text);
}

function describeDryRun(matching: number, first: number): string {
  return `Would invite ${countPeople(Math.min(matching, first))}; ${count(matching)} match.\n`;
}

function describeUndo({ returned, moved }: { returned: number; moved: number }): string {
  const rest = moved ? ` ${countPeople(moved)} of the batch had another status already.` : "";
  return `Made ${countPeople(returned)} waiting again.${rest}\n`;
}

function describeBatches(batches: Batch[]): string {
  if (batches.length === 0) return "There are no batches.\n";
  return batches
    .map(
      ({ batch, people, invited, joined }) =>
        `${printable(batch)}  ${countPeople(people)}, ${count(invited)} still invited, ${count(joined)} joined\n`,
    )
    .join("");
}
