// waitlist export: streams the list from Postgres as CSV or JSON lines.
import { Command, Option } from "commander";
import { WaitlistStatus } from "../../database/generated/enums.ts";
import { copyRows, exportFormats } from "../../models/exported-list.ts";
import { isFlagged } from "../../models/waitlist-entry.ts";
import { withOwner } from "../command.ts";
import { writeList } from "./list-file.ts";
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
    "Without FILE, the list goes to stdout. FILE must not exist; it appears when it is complete, and only you can read it. So " +
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
  .action(async (file: string | undefined, options: Options) => {
    const copy = exportFormats[options.format](readCondition(options));
    await withOwner((client) => writeList(file, (output) => copyRows(client, copy, output)));
  });

function readCondition({ status, confirmed, withoutFlagged, ...period }: Options): string {
  const conditions = [inPeriod(period)];
  if (withoutFlagged) conditions.push(`NOT ${isFlagged}`);
  if (confirmed) conditions.push("confirmed_at IS NOT NULL");
  if (status) conditions.push(`status = '${status}'`);
  return conditions.join(" AND ");
}
