// waitlist export: streams the list from Postgres as CSV or JSON lines.
import type { Writable } from "node:stream";
import { Command, Option } from "commander";
import type pg from "pg";
import { WaitlistStatus } from "../../database/generated/enums.ts";
import { copyInvitation, copyList, type ExportFormat } from "../../models/operators/export.ts";
import { requireInvited } from "../../models/operators/invitations.ts";
import { withOwner } from "../command.ts";
import { writeList } from "./files.ts";
import { periodSql, sinceOption, untilOption, type Period } from "./moment.ts";

type Options = Period & {
  format: ExportFormat;
  excel?: boolean;
  status?: string;
  confirmed?: boolean;
  withoutFlagged?: boolean;
  invitation?: string;
};

export const exportCommand = new Command("export")
  .summary("writes the list as CSV or as JSON lines")
  .description(
    "Without FILE, or with -, the list goes to stdout. FILE must not exist; it appears when it is complete, and only " +
      "you can read it. In CSV, an apostrophe precedes text that a spreadsheet could run as a formula; import removes it. " +
      "The addresses of --invitation stay as they are.",
  )
  .argument("[FILE]")
  .addOption(new Option("--format <FORMAT>").choices(["csv", "ndjson"]).default("csv"))
  .addOption(
    new Option(
      "--excel",
      "CSV in UTF-16 with tabs, which Excel opens in every country, and import reads, too",
    ).conflicts("format"),
  )
  .addOption(sinceOption())
  .addOption(untilOption())
  .addOption(new Option("--status <STATUS>", "only entries with this status").choices(Object.keys(WaitlistStatus)))
  .option("--confirmed", "only people who confirmed their address")
  .option("--without-flagged", "omit suspected spam")
  .addOption(
    new Option("--invitation <INVITATION>", "those who are still invited, as invite writes them").conflicts([
      "format",
      "excel",
      "since",
      "until",
      "status",
      "confirmed",
      "withoutFlagged",
    ]),
  )
  .action(async (file: string | undefined, options: Options) => {
    await withOwner((client) => writeList(file, (output) => copyEntries(client, options, output)));
  });

async function copyEntries(client: pg.Client, options: Options, output: Writable): Promise<number> {
  const { excel, format, invitation } = options;
  if (invitation === undefined) return copyList(client, excel ? "excel" : format, readCondition(options), output);
  return requireInvited(await copyInvitation(client, invitation, output), invitation);
}

function readCondition({ status, confirmed, withoutFlagged, ...period }: Options): string {
  const conditions = [periodSql(period)];
  if (withoutFlagged) conditions.push("NOT suspected_spam");
  if (confirmed) conditions.push("confirmed_at IS NOT NULL");
  if (status) conditions.push(`status = '${status}'`);
  return conditions.join(" AND ");
}
