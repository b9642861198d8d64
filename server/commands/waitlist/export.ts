// waitlist export: streams the list from Postgres as CSV or JSON lines.
import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { open, realpath, rename, rm, stat } from "node:fs/promises";
import { Command, Option } from "commander";
import { WaitlistStatus } from "../../database/generated/enums.ts";
import { OperatorError, printable } from "../../operator-messages.ts";
import { copyRows, exportFormats } from "../../models/exported-list.ts";
import { isFlagged } from "../../models/waitlist-entry.ts";
import { countEntries, explainCode, print, withOwner } from "../command.ts";
import { inPeriod, sinceOption, untilOption, type Period } from "./moment.ts";

type Options = Period & {
  format: keyof typeof exportFormats;
  status?: string;
  confirmed?: boolean;
  withoutFlagged?: boolean;
};

export const exportCommand = new Command("export")
  .summary("writes the list as CSV or as JSON lines, in no particular order")
  .description(
    "Without FILE, or with -, the list goes to stdout. FILE appears when it is complete, and only you can read it. So " +
      "that no spreadsheet runs a cell of CSV as a formula, an apostrophe precedes = + - @ and their full-width forms at " +
      "the start of a cell and after ; TAB or a line break in it, and a leading TAB or CR. import removes these " +
      "apostrophes.",
  )
  .argument("[FILE]")
  .addOption(new Option("--format <FORMAT>").choices(Object.keys(exportFormats)).default("csv"))
  .addOption(sinceOption())
  .addOption(untilOption())
  .addOption(new Option("--status <STATUS>", "only entries with this status").choices(Object.keys(WaitlistStatus)))
  .option("--confirmed", "only entries whose address was confirmed by the link in the confirmation mail")
  .option("--without-flagged", "omit suspected spam, disposable addresses and unusual volume")
  .action(async (file = "-", options: Options) => {
    const copy = exportFormats[options.format](readCondition(options));
    await withOwner(async (client) => {
      if (file === "-") await copyRows(client, copy, process.stdout);
      else {
        const rows = await writePrivately(file, (draft) =>
          copyRows(client, copy, createWriteStream(draft, { flush: true })),
        );
        print(`Wrote ${countEntries(rows)} to ${printable(file)}.\n`);
      }
    });
  });

function readCondition({ status, confirmed, withoutFlagged, ...period }: Options): string {
  const conditions = [inPeriod(period)];
  if (withoutFlagged) conditions.push(`NOT ${isFlagged}`);
  if (confirmed) conditions.push("confirmed_at IS NOT NULL");
  if (status) conditions.push(`status = '${status}'`);
  return conditions.join(" AND ");
}

/**
 * Lets `write` fill a new file beside `path`, then replaces `path` by it. `write` must flush the file: a power cut after the rename
 * could leave an empty one.
 */
async function writePrivately<T>(path: string, write: (draft: string) => Promise<T>): Promise<T> {
  const target = await realpath(path).catch(() => path);
  const found = await stat(target).catch(() => undefined);
  // rename would replace a device or a pipe by a file.
  if (found && !found.isFile()) throw new OperatorError(`${printable(path)} is not a file. Nothing was written.`);
  const draft = `${target}.${randomBytes(4).toString("hex")}.part`;
  try {
    await (await open(draft, "wx", 0o600)).close();
    const result = await write(draft);
    await rename(draft, target);
    return result;
  } catch (error) {
    await rm(draft, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code && syscall) throw new OperatorError(`${printable(path)} cannot be written: ${explainCode(code)}`);
    throw error;
  }
}
