// waitlist export: the list as CSV or as JSON lines, streamed from Postgres at its own speed.
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { printable, printableName } from "../../printable.ts";
import { UsageError } from "../command.ts";
import { isFinal, isFlagged } from "../../models/waitlist-entry.ts";
import { print } from "../print.ts";
import type { Command } from "./command.ts";
import { toLines, type LineFormat } from "./copied-rows.ts";
import { formats } from "./export-format.ts";
import { inPeriod, periodOptions, readPeriod, type Period } from "./moment.ts";
import { withOwner } from "./owner.ts";
import { writePrivately } from "./private-file.ts";
import { count, showProgress, type Progress } from "./progress.ts";

interface Selection {
  format: LineFormat;
  period: Period;
  withoutFlagged: boolean;
}

export const exportCommand: Command = {
  summary: "writes the list as CSV or as JSON lines, in no particular order",
  details: [
    "Without FILE, or with -, it goes to stdout (in the project: npm run --silent, as npm prints lines of its own).",
    "FILE is readable by you alone, and appears when it is complete.",
    "CSV is that of RFC 4180, in UTF-8. So that no spreadsheet runs a cell as a formula, an apostrophe precedes = + - @",
    "and their full-width forms at the start of a cell and after ; TAB or a line break in it, and a leading TAB or CR.",
    "import removes these apostrophes. JSON lines hold the text as it is.",
  ].join("\n"),
  positionals: ["[FILE]"],
  options: {
    format: { value: "FORMAT", description: "csv (the default) or ndjson" },
    ...periodOptions,
    "without-flagged": { description: "leaves out suspected spam, disposable addresses and unusual volume" },
  },
  run: async ({ positionals: [file = "-"], value, has }) => {
    const name = value("format") ?? "csv";
    const format = Object.hasOwn(formats, name) ? formats[name] : undefined;
    if (!format) throw new UsageError(`--format is "${printableName(name)}" but must be csv or ndjson.`);
    const selection = { format, period: readPeriod(value), withoutFlagged: has("without-flagged") };
    await withOwner(async (client) => {
      if (file === "-") {
        await write(client, selection, process.stdout);
        return;
      }
      const rows = await writeToFile(client, selection, file);
      print(`Wrote ${count(rows)} ${rows === 1 ? "entry" : "entries"} to ${printable(file)}.\n`);
    });
  },
};

async function writeToFile(client: pg.Client, selection: Selection, file: string): Promise<number> {
  let rows = 0;
  await writePrivately(file, async (draft) => {
    rows = await write(client, selection, createWriteStream(draft));
  });
  return rows;
}

/** @returns the number of entries. */
async function write(client: pg.Client, selection: Selection, output: Writable): Promise<number> {
  const { format, period, withoutFlagged } = selection;
  const where = `${inPeriod(period)} AND ${isFinal} AND ${withoutFlagged ? `NOT ${isFlagged}` : "true"}`;
  const progress = await showExport(client, where);
  try {
    // Not sorted: where Postgres must, as after an import, that takes as long as everything else.
    const cells = format.columns.map(({ select }) => select).join(", ");
    const entries = `SELECT ${cells} FROM public.earlyaccess WHERE ${where}`;
    const rows = client.query(copyTo(`COPY (${entries}) TO STDOUT`));
    await pipeline(rows, toLines(format, progress.advance), output, { end: output !== process.stdout });
    return rows.rowCount;
  } finally {
    progress.end();
  }
}

/** Counts what is to come only where somebody watches. */
async function showExport(client: pg.Client, where: string): Promise<Progress> {
  if (!process.stderr.isTTY) return showProgress("Export");
  const { rows } = await client.query(`SELECT count(*)::int AS total FROM public.earlyaccess WHERE ${where}`);
  return showProgress("Export", rows[0].total);
}
