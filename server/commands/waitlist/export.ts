// waitlist export: streams the list from Postgres as CSV or JSON lines.
import { createWriteStream } from "node:fs";
import { WaitlistStatus } from "../../database/generated/enums.ts";
import { printable } from "../../operator-messages.ts";
import { copyRows, exportFormats } from "../../models/exported-list.ts";
import { isFlagged } from "../../models/waitlist-entry.ts";
import { countEntries, print } from "../command.ts";
import { readChoice, type Arguments, type Command } from "./arguments.ts";
import { periodOptions, readPeriod } from "./moment.ts";
import { withOwner } from "./owner.ts";
import { writePrivately } from "./private-file.ts";

export const exportCommand: Command = {
  summary: "writes the list as CSV or as JSON lines, in no particular order",
  details: [
    "Without FILE, or with -, the list goes to stdout. In the project, use npm run --silent: npm prints lines of its own.",
    "FILE appears when it is complete, and only you can read it.",
    "CSV has commas, quotes as in RFC 4180, LF line ends and UTF-8. An empty text has quotes; a missing value has none.",
    "So that no spreadsheet runs a cell as a formula, an apostrophe precedes = + - @ and their full-width forms at the",
    "start of a cell and after ; TAB or a line break in it, and a leading TAB or CR. import removes these apostrophes.",
    "JSON lines hold the text without them. import ignores confirmed_at and mail_refusal.",
  ].join("\n"),
  positionals: ["[FILE]"],
  options: {
    format: { value: "FORMAT", description: "csv (the default) or ndjson" },
    ...periodOptions,
    status: {
      value: "STATUS",
      description: `only entries with this status: ${Object.keys(WaitlistStatus).join(", ")}; several with commas`,
    },
    confirmed: { description: "only entries whose address was confirmed by the link in the confirmation mail" },
    "without-flagged": { description: "omit suspected spam, disposable addresses and unusual volume" },
  },
  run: async (args) => {
    const [file = "-"] = args.positionals;
    const format = readChoice("format", args.value("format") ?? "csv", exportFormats);
    const copy = format(readCondition(args));
    await withOwner(async (client) => {
      if (file === "-") await copyRows(client, copy, process.stdout);
      else {
        const rows = await writePrivately(file, (draft) =>
          copyRows(client, copy, createWriteStream(draft, { flush: true })),
        );
        print(`Wrote ${countEntries(rows)} to ${printable(file)}.\n`);
      }
    });
  },
};

/** Returns an SQL condition. @throws UsageError */
function readCondition({ value, has }: Arguments): string {
  const conditions = [readPeriod(value)];
  if (has("without-flagged")) conditions.push(`NOT ${isFlagged}`);
  if (has("confirmed")) conditions.push("confirmed_at IS NOT NULL");
  const statuses = value("status")?.split(",");
  const literals = statuses?.map((word) => `'${readChoice("status", word.trim(), WaitlistStatus)}'`);
  if (literals) conditions.push(`status IN (${literals.join(", ")})`);
  return conditions.join(" AND ");
}
