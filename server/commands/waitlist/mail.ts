// waitlist mail: sends a text file to the list with the worker, and lists and stops mailings.
import { createReadStream } from "node:fs";
import { buffer } from "node:stream/consumers";
import { Command, InvalidArgumentError, Option } from "commander";
import type pg from "pg";
import { loadConfig } from "../../config/load-config.ts";
import { findWorker, isQueueEnabled } from "../../database/queue.ts";
import { migrateHint, OperatorError, printable } from "../../errors.ts";
import { createToken } from "../../models/entry-tokens.ts";
import { findCandidates, type Candidates, type Group } from "../../models/operators/mailing-recipients.ts";
import { parseMailingText, readMailingText } from "../../mail/letter.ts";
import * as mailings from "../../models/operators/mailings.ts";
import { renderMailing, type MailingSender } from "../../mail/mailing.ts";
import { count, countPeople, print, readWholeNumber, withOwner } from "../command.ts";
import { fileError } from "./files.ts";
import { formatFinding } from "./finding.ts";
import { readTestAddress, sendTest } from "./mail-checks.ts";
import { describeMailing } from "./mailing-state.ts";

type Options = Group & { test?: string; send?: number; perHour?: number; list?: boolean; stop?: string };

/** The options that need neither NAME nor FILE. */
const others = ["list", "stop"];

export const mail = new Command("mail")
  .summary("sends the text in FILE to the list, as the mailing NAME")
  .description(
    'Line 1 of FILE is "Subject: " and a subject, line 2 is empty, then come paragraphs, parted by empty lines; do not wrap ' +
      "lines. https:// URLs become links, and a paragraph [Label](https://…) becomes a button. Without an option, mail sends " +
      "nothing, and prints who can get the mailing: people who are waiting or invited, confirmed their address and have no " +
      "flag. Nobody gets a mailing of the same NAME twice. The worker sends it. Times are in UTC.",
  )
  .argument("[NAME]", "1 to 40 of a-z, 0-9 and -", readName)
  .argument("[FILE]", "a text file in UTF-8, or - for stdin")
  .addOption(new Option("--test <ADDRESS>", "send it to ADDRESS alone").conflicts(["send", ...others]))
  .addOption(
    new Option("--send <N>", "add the N oldest who have not had it; 0 goes on with those who wait, with this text")
      .argParser(readWholeNumber(0, 100_000_000))
      .conflicts(others),
  )
  .addOption(
    new Option("--per-hour <N>", "mails an hour, at first 200")
      .argParser(readWholeNumber(1, 3_600_000))
      .conflicts(["test", ...others]),
  )
  .addOption(
    new Option("--unconfirmed", "also people who did not confirm their address").conflicts(["test", ...others]),
  )
  .addOption(new Option("--imported", "also people of an import").conflicts(["test", ...others]))
  .addOption(new Option("--invitation <INVITATION>", "only people of this invitation").conflicts(["test", ...others]))
  .addOption(new Option("--list", "list the mailings, the newest first").conflicts("stop"))
  .option("--stop <NAME>", "stop the mailing, and take back what is not sent yet", readName)
  .action(async (name: string | undefined, file: string | undefined, options: Options, command: Command) => {
    const { list, stop } = options;
    if (list || stop) {
      if (name) command.error("error: --list and --stop take neither NAME nor FILE");
      await withMailings((client) => (stop ? printStop(client, stop) : printList(client)));
    } else if (name && file) await mailFile(name, file, options);
    else command.error("error: name NAME and FILE, --list or --stop NAME");
  });

function readName(text: string): string {
  if (/^[a-z\d-]{1,40}$/.test(text)) return text;
  throw new InvalidArgumentError("Use 1 to 40 of a-z, 0-9 and -, for example launch-1.");
}

async function withMailings(work: (client: pg.Client) => Promise<void>): Promise<void> {
  await withOwner(async (client) => {
    if (!(await isQueueEnabled(client, "mail"))) {
      throw new OperatorError(`Confirmation mails are not set up in this database. ${migrateHint}`);
    }
    await work(client);
  });
}

async function mailFile(name: string, path: string, { test, send, perHour, ...group }: Options): Promise<void> {
  const text = readMailingText(await readFile(path));
  const { composeMailing, readMailingSettings } = await import("../../worker/mailing.ts"); // nodemailer
  const settings = readMailingSettings(loadConfig());
  if (test !== undefined) {
    const message = composeMailing(
      settings,
      parseMailingText(text),
      readTestAddress("--test", test),
      createToken().token,
    );
    const finding = await sendTest(settings.url, settings.sender.origin, message);
    if (finding[0] !== "ok") process.exitCode = 1;
    return print(formatFinding(finding));
  }
  await withMailings(async (client) => {
    if (send !== undefined) return printSend(client, { name, text, perHour, people: send, group });
    const candidates = await findCandidates(client, name, group);
    const pace = perHour ?? (await mailings.readPace(client, name));
    print(formatPreview(text, settings.sender, candidates, pace));
    const people = candidates.chosen.length;
    print(`\nNothing was sent. ${people > 0 ? `To send it: --send ${people}` : "Nobody can get it."}\n`);
  });
}

async function readFile(path: string): Promise<Buffer> {
  return buffer(path === "-" ? process.stdin : createReadStream(path)).catch((error: NodeJS.ErrnoException) => {
    throw fileError(path === "-" ? "stdin" : path, "read", error);
  });
}

const hints = {
  unconfirmed: "--unconfirmed adds them. retry --since asks those who never had a mail",
  imported: "--imported adds them",
};

function formatPreview(text: string, sender: MailingSender, { chosen, leftOut }: Candidates, perHour: number): string {
  const kinds = (["unconfirmed", "imported"] as const).filter((kind) => leftOut[kind] > 0);
  const first = chosen.slice(0, 3).map(({ email }) => printable(email));
  const hours = chosen.length / perHour;
  const inHours = hours < 1 ? "less than an hour" : `${hours.toFixed(1)} hours`;
  const duration = hours < 48 ? inHours : `${(hours / 24).toFixed(1)} days`;
  const { subject, text: part } = renderMailing(parseMailingText(text), sender, "…");
  return [
    `${countPeople(chosen.length)} can get it${first.length > 0 ? `: first ${first.join(", ")}` : ""}.`,
    ...kinds.map((kind) => `${count(leftOut[kind])} ${kind}: left out. ${hints[kind]}.`),
    `At ${count(perHour)} an hour, ${count(Math.min(perHour * 24, chosen.length))} a day: ${duration}.`,
    "",
    `Subject: ${subject}`,
    "",
    part,
  ].join("\n");
}

async function printSend(client: pg.Client, order: mailings.Order) {
  const { waiting, until, lost } = await mailings.sendMailing(client, order);
  if (lost > 0) print(`${countPeople(lost)} who waited before a restore may have had it: unknown.\n`);
  print(
    `Added ${countPeople(order.people)}. ${countPeople(waiting)} wait${waiting === 1 ? "s" : ""}; the last mail is sent at ${until} or later.\n`,
  );
  if (!(await findWorker(client))) print("No worker runs: it waits.\n");
}

async function printStop(client: pg.Client, name: string) {
  const { taken, lost } = await mailings.stopMailing(client, name);
  if (lost > 0) print(`${countPeople(lost)} who waited before a restore may have had ${name}: unknown.\n`);
  if (taken > 0) print(`Took back ${countPeople(taken)}, who can get ${name} later.\n`);
}

async function printList(client: pg.Client) {
  const list = await mailings.listMailings(client);
  if (list.length === 0) print("There are no mailings.\n");
  for (const mailing of list) {
    print(`${mailing.name}  ${parseMailingText(mailing.text).subject}\n  ${describeMailing(mailing)}\n`);
  }
}
