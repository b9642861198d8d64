// waitlist mail: sends a text file to the list with the worker, lists and stops mailings, and says who got what.
import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";
import { Command, InvalidArgumentError, Option } from "commander";
import type pg from "pg";
import { loadConfig } from "../../config/load-config.ts";
import { findWorker, isQueueEnabled } from "../../database/queue.ts";
import { migrateHint, OperatorError, printable } from "../../errors.ts";
import { createToken } from "../../models/entry-tokens.ts";
import { parseMailingText, readMailingText } from "../../mail/letter.ts";
import { composeMailing, readMailingSettings } from "../../mail/mailing.ts";
import * as mailings from "../../models/operators/mailings.ts";
import { countPeople, print, readWholeNumber, withOwner } from "../command.ts";
import { fileError } from "./files.ts";
import { formatFinding } from "./finding.ts";
import { readTestAddress, sendTest } from "./mail-checks.ts";
import { formatPreview } from "./mailing-preview.ts";
import { describeMailing } from "./mailing-state.ts";

type Options = mailings.Audience & { perHour?: number };

export const mail = new Command("mail")
  .summary("sends a text file to the list, as the mailing NAME")
  .description(
    'Line 1 of FILE (- for stdin) is "Subject: " and a subject, line 2 is empty, then come paragraphs, parted by empty ' +
      "lines; do not wrap lines. https:// URLs become links, and a paragraph [Label](https://…) becomes a button. Nobody gets " +
      "a mailing of the same NAME twice. The worker sends it. Times are in UTC.",
  );

function readName(text: string): string {
  if (/^[a-z\d-]{1,40}$/.test(text)) return text;
  throw new InvalidArgumentError("Use 1 to 40 of a-z, 0-9 and -, for example launch-1.");
}

const addCommand = (name: string, summary: string) =>
  mail.command(name).summary(summary).argument("NAME", "1 to 40 of a-z, 0-9 and -", readName);

/** A subcommand whose options choose the people. */
const addAudienceCommand = (name: string, summary: string) =>
  addCommand(name, summary)
    .argument("FILE")
    .option("--per-hour <N>", "mails an hour, at first 200", readWholeNumber(1, 3_600_000))
    .option("--unconfirmed", "also people who did not confirm their address")
    .option("--imported", "also people of an import")
    .option("--invitation <INVITATION>", "only people of this invitation")
    .addOption(
      new Option("--sent <NAME>", "the people who had or may have had this mailing, confirmed or not, and no others")
        .argParser(readName)
        .conflicts(["unconfirmed", "imported", "invitation"]),
    );

addAudienceCommand(
  "preview",
  "prints the text and who can get it: waiting or invited, confirmed and without a flag",
).action(async (name: string, path: string, { perHour, ...audience }: Options, preview: Command) => {
  const { text, settings } = await readLetter(path);
  await withMailings(async (client) => {
    const candidates = await mailings.findCandidates(client, name, audience);
    const pace = perHour ?? (await mailings.readPace(client, name));
    const send = `mail send ${name} FILE ${candidates.chosen.length}${typedOptions(preview)}`;
    print(formatPreview(text, settings.sender, candidates, pace, send));
  });
});

/** Returns the options as they are typed for send, which would reach others without them. */
function typedOptions(command: Command): string {
  const typed = command.options.flatMap((option) => {
    const value = command.getOptionValue(option.attributeName()) as string | number | true | undefined;
    if (value === undefined) return [];
    return value === true ? ` ${option.long}` : ` ${option.long} ${printable(`${value}`)}`;
  });
  return typed.join("");
}

addCommand("test", "sends it to ADDRESS alone")
  .argument("FILE")
  .argument("ADDRESS")
  .action(async (_name: string, path: string, address: string) => {
    const { text, settings } = await readLetter(path);
    const to = { name: "", address: readTestAddress("ADDRESS", address) };
    const message = { ...composeMailing(settings, parseMailingText(text), createToken().token), to };
    const finding = await sendTest(settings.url, settings.sender.origin, message);
    if (finding[0] !== "ok") process.exitCode = 1;
    print(formatFinding(finding));
  });

addAudienceCommand("send", "adds the N oldest who have not had it; 0 goes on with those who wait, with this text")
  .argument("N", "as preview prints it", readWholeNumber(0, 100_000_000))
  .action(async (name: string, path: string, people: number, { perHour, ...audience }: Options) => {
    const { text } = await readLetter(path);
    await withMailings((client) => printSend(client, { name, text, perHour, people, audience }));
  });

mail
  .command("list")
  .summary("lists the mailings, the newest first")
  .action(() => withMailings(printList));

addCommand("stop", "stops it, and takes back what is not sent yet").action((name: string) =>
  withMailings((client) => printStop(client, name)),
);

addCommand("people", "writes who got it as CSV: address, outcome, time of the latest try, and the server's reply")
  .description(
    "People who are no longer on the list are left out. An apostrophe precedes text that a spreadsheet could run.",
  )
  .addOption(new Option("--outcome <OUTCOME>", "only people with this outcome").choices(mailings.outcomeNames))
  .action((name: string, { outcome }: { outcome?: mailings.Outcome }) =>
    withMailings(async (client) => {
      await mailings.copyPeople(client, name, outcome, process.stdout);
    }),
  );

async function withMailings(work: (client: pg.Client) => Promise<void>): Promise<void> {
  await withOwner(async (client) => {
    if (!(await isQueueEnabled(client, "mail"))) {
      throw new OperatorError(`Confirmation mails are not set up in this database. ${migrateHint}`);
    }
    await work(client);
  });
}

/** @throws OperatorError if the file is no mailing, or a setting is missing. */
async function readLetter(path: string) {
  const text = readMailingText(await readFile(path));
  return { text, settings: readMailingSettings(loadConfig()) };
}

async function readFile(path: string): Promise<Buffer> {
  return buffer(path === "-" ? process.stdin : createReadStream(path)).catch((error: NodeJS.ErrnoException) => {
    throw fileError(path === "-" ? "stdin" : path, "read", error);
  });
}

const describeLost = (name: string, lost: number) =>
  lost > 0
    ? `This database was made from a copy: ${countPeople(lost)} who waited may have had ${name}: unknown.\n`
    : "";

async function printSend(client: pg.Client, order: mailings.Order) {
  const { waiting, until, lost } = await mailings.sendMailing(client, order);
  print(describeLost(order.name, lost));
  print(
    `Added ${countPeople(order.people)}. ${countPeople(waiting)} wait${waiting === 1 ? "s" : ""}; the last mail is sent at ${until} or later.\n`,
  );
  if (!(await findWorker(client))) print("No worker runs: it waits.\n");
}

async function printStop(client: pg.Client, name: string) {
  const { taken, lost } = await mailings.stopMailing(client, name);
  print(describeLost(name, lost));
  if (taken > 0) print(`Took back ${countPeople(taken)}, who can get ${name} later.\n`);
}

async function printList(client: pg.Client) {
  const list = await mailings.listMailings(client);
  if (list.length === 0) print("There are no mailings.\n");
  for (const mailing of list) {
    print(`${mailing.name}  ${parseMailingText(mailing.text).subject}\n  ${describeMailing(mailing)}\n`);
  }
}
