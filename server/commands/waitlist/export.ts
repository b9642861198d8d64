// waitlist export: the list as CSV or as JSON lines, streamed from Postgres at its own speed.
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { UsageError } from "../command.ts";
import type { Command } from "./command.ts";
import { countLines, endRowsWithCrlf } from "./line-ends.ts";
import { inPeriod, periodOptions, readPeriod, type Period } from "./moment.ts";
import { withOwner } from "./owner.ts";
import { writePrivately } from "./private-file.ts";
import { count, showProgress, type Progress } from "./progress.ts";
import { guardedColumn } from "./spreadsheet-cell.ts";

interface Selection {
  format: string;
  period: Period;
  withoutFlagged: boolean;
}

export const exportCommand: Command = {
  summary: "writes the list as CSV or as JSON lines, in no particular order",
  details: [
    "Without FILE, or with -, it goes to stdout (in the project: npm run --silent, as npm prints lines of its own).",
    "FILE is readable by you alone, and appears when it is complete.",
    "CSV is that of RFC 4180, in UTF-8. A cell that begins with = + - @, TAB or CR gets a leading apostrophe, so",
    "that no spreadsheet runs it as a formula; import takes it away again. JSON lines hold the text as it is.",
  ].join("\n"),
  positionals: ["[FILE]"],
  options: {
    format: { value: "FORMAT", description: "csv (the default) or ndjson" },
    ...periodOptions,
    "without-flagged": { description: "leaves out suspected spam and disposable addresses" },
  },
  run: async ({ positionals: [file = "-"], value, has }) => {
    const format = value("format") ?? "csv";
    if (!(format in copies)) throw new UsageError(`--format is "${format}" but must be csv or ndjson.`);
    const selection = { format, period: readPeriod(value), withoutFlagged: has("without-flagged") };
    await withOwner(async (client) => {
      if (file === "-") return writeToStdout(client, selection);
      const rows = await writeToFile(client, selection, file);
      process.stdout.write(`Wrote ${count(rows)} ${rows === 1 ? "entry" : "entries"} to ${file}.\n`);
    });
  },
};

const texts = ["name", "email", "company", "job_title"];
const sources = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "referrer_host"];
const flags = ["suspected_spam", "disposable_email"];
/** ISO 8601; the connection's time zone is UTC. */
const createdAt = `to_char(created_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at`;

const csvColumns = [...texts.map(guardedColumn), "status", createdAt, ...flags, ...sources.map(guardedColumn), "id"];
/** JSON's own form of a time is ISO 8601 as well; to_char would cost a quarter of the rate here. */
const jsonColumns = [...texts, "status", "created_at", ...flags, ...sources, "id"];

/** JSON has no control characters as they are, so that with these nothing is ever quoted or escaped. */
const asLines = String.raw`FORMAT csv, DELIMITER E'\x01', QUOTE E'\x02'`;

/** How Postgres formats the entries: Node would need several times as long. */
const copies: Record<string, (from: string) => string> = {
  csv: (from) => `COPY (SELECT ${csvColumns.join(", ")} ${from}) TO STDOUT (FORMAT csv, HEADER)`,
  ndjson: (from) =>
    `COPY (SELECT row_to_json(entry) FROM (SELECT ${jsonColumns.join(", ")} ${from}) AS entry) TO STDOUT (${asLines})`,
};

async function writeToFile(client: pg.Client, selection: Selection, file: string): Promise<number> {
  let rows = 0;
  await writePrivately(file, async (draft) => {
    rows = await write(client, selection, createWriteStream(draft));
  });
  return rows;
}

async function writeToStdout(client: pg.Client, selection: Selection): Promise<void> {
  try {
    await write(client, selection, process.stdout);
  } catch (error) {
    // Whoever reads has enough, as `head` does; what is left to say has no reader.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
    process.exitCode = 1;
  }
}

/** @returns the number of entries. */
async function write(client: pg.Client, selection: Selection, output: Writable): Promise<number> {
  const { format, period, withoutFlagged } = selection;
  const where = `${inPeriod(period)} AND ${withoutFlagged ? "NOT (suspected_spam OR disposable_email)" : "true"}`;
  const progress = await showExport(client, where);
  try {
    // Not sorted: where Postgres must, as after an import, that takes as long as everything else.
    const from = `FROM public.earlyaccess WHERE ${where}`;
    const rows = client.query(copyTo((copies[format] as (from: string) => string)(from)));
    const lines = format === "csv" ? endRowsWithCrlf(progress.advance) : countLines(progress.advance);
    await pipeline(rows, lines, output, { end: output !== process.stdout });
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
