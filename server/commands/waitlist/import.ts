// waitlist import: adds the entries of a CSV file, after all of its lines passed the checks of a sign-up.
import { Command } from "commander";
import type pg from "pg";
import { v7 as uuidv7 } from "uuid";
import { requireErasureKey } from "../../database/erasure-key.ts";
import { WaitlistStatus } from "../../database/generated/enums.ts";
import { isQueueEnabled } from "../../database/queue.ts";
import { queueUnsentMails } from "../../models/operators/mails.ts";
import {
  copyEntries,
  countEmails,
  deleteErased,
  insertLines,
  type ImportedEntry,
} from "../../models/operators/import.ts";
import { parseEntry } from "../../models/waitlist-entry.ts";
import { errorFields, OperatorError } from "../../errors.ts";
import { count, print, withOwner } from "../command.ts";
import { openCsv, type CsvFile, type CsvLine } from "./read-csv.ts";
import { listNames } from "./files.ts";
import { readMoment } from "./moment.ts";

export const importCommand = new Command("import")
  .summary("adds the entries of a CSV file to the list, or none if a line is invalid")
  .description(
    'The first line names the columns as export or a mailing tool ("Email Address") does, in any order and case: name (or ' +
      "first name and last name), email and company; also job title, created at, status, utm_… and referrer host. import " +
      "names the columns that it ignores; confirmed_at is one, because only the link in the confirmation mail confirms an " +
      "address. The delimiter is a comma, a semicolon or a tab. Each line must pass the checks of a sign-up; if an entry " +
      "has several lines, messages name its last one. import skips addresses that are on the " +
      "list or earlier in the file and, with ERASURE_KEY, erased addresses, unless the line's created at is later than " +
      "the erasure. If import stops midway, run the same command again.",
  )
  .argument("FILE", "or - for stdin")
  .option(
    "--own",
    "the file is an export of this list on another host: take confirmed_at and imported, and queue mails",
  )
  .option("--dry-run", "report what an import would do, and change nothing")
  .action(async (path: string, { dryRun, own }: { dryRun?: boolean; own?: boolean }) => {
    const file = await openCsv(path, own);
    await withOwner(async (client, { erasureKey }) => {
      await requireErasureKey(client, erasureKey);
      const summary = await checkLines(client, file, erasureKey);
      print(formatSummary(summary, file.ignored));
      if (summary.invalid > 0) throw new OperatorError(formatErrors(summary));
      if (dryRun) return print(`Would import ${count(summary.entries - summary.known)}; nothing was changed.\n`);
      const inserted = await insertLines(client, summary.valid, erasureKey !== undefined).catch((error: unknown) => {
        throw describeStop(error);
      });
      print(`Imported ${count(inserted)}.\n`);
      if (own && (await isQueueEnabled(client, "mail"))) {
        print(`Mails queued: ${count(await queueUnsentMails(client))}.\n`);
      }
    });
  });

interface ImportSummary {
  valid: number;
  invalid: number;
  /** What is wrong with the first invalid lines. */
  errors: string[];
  /** The lines whose address was erased; undefined if no erased addresses are kept. */
  erased?: number;
  /** The number of different addresses, without erased ones. */
  entries: number;
  /** The number of `entries` that are already on the list. */
  known: number;
}

const maxErrors = 20;
const statuses = Object.keys(WaitlistStatus);

/** @param key of the hashes of erased addresses, whose lines are left out; undefined if none are kept. */
async function checkLines(client: pg.Client, { lines }: CsvFile, key: string | undefined): Promise<ImportSummary> {
  const summary: ImportSummary = { valid: 0, invalid: 0, errors: [], entries: 0, known: 0 };
  summary.valid = await copyEntries(client, readEntries(lines, summary), key);
  if (key !== undefined) summary.erased = await deleteErased(client);
  return Object.assign(summary, await countEmails(client));
}

async function* readEntries(lines: CsvFile["lines"], summary: ImportSummary): AsyncGenerator<ImportedEntry> {
  for await (const line of lines) {
    const read = readLine(line);
    if (typeof read !== "string") yield read;
    else if (summary.invalid++ < maxErrors) summary.errors.push(`Line ${line.number}: ${read}`);
  }
}

/** Returns the entry, or what is wrong: fields and rules, no value. */
function readLine({ cells }: CsvLine): ImportedEntry | string {
  if (!cells) return "more cells than the header has";
  const { first_name = "", last_name = "", referrer_host: referrer, ...rest } = cells;
  const parsed = parseEntry({ ...rest, name: rest.name?.trim() || `${first_name} ${last_name}`, referrer });
  if (!parsed.ok) {
    const reasons = Object.entries(parsed.errors).map(([field, error]) => `${field}: ${error}`);
    return reasons.join(" ");
  }
  const date = (rest.created_at ?? "").trim();
  const moment = readMoment(date);
  const isPast = moment && moment.getUTCFullYear() > 0 && moment.getTime() <= Date.now(); // Postgres has no year 0.
  if (date && !isPast) return "created_at: not a past date like 2026-01-31 or 2026-01-31T18:00:00Z";
  const status = (rest.status ?? "").trim().toLowerCase();
  if (status && !Object.hasOwn(WaitlistStatus, status))
    return `status: not one of ${listNames(statuses)}. Rename the column if it is another tool's.`;
  const isTrue = (cell = "") => /^t(?:rue)?$/i.test(cell);
  const flags = { suspected_spam: isTrue(rest.suspected_spam), unusual_volume: isTrue(rest.unusual_volume) };
  const confirmed = readMoment((rest.confirmed_at ?? "").trim());
  return {
    ...parsed.entry,
    ...flags,
    id: uuidv7(),
    created_at: moment?.toISOString() ?? null,
    status: status || null,
    confirmed_at: confirmed?.toISOString() ?? null,
    imported: rest.imported === undefined || isTrue(rest.imported),
  };
}

function describeStop(cause: unknown): OperatorError {
  const reason = errorFields(cause).code ?? "the connection is lost";
  const remedy = "Run the same command again: it skips addresses that are on the list.";
  return new OperatorError(`The import stopped midway (${reason}). ${remedy}`, { cause });
}

function formatSummary({ valid, invalid, erased, entries, known }: ImportSummary, ignored: string[]): string {
  const counts = [
    `${count(valid + invalid)} lines, ${count(known)} already on the list`,
    `${count(valid - (erased ?? 0) - entries)} twice in the file`,
    ...(erased === undefined ? [] : [`${count(erased)} erased`]),
    `${count(invalid)} wrong.\n`,
  ];
  return `${counts.join(", ")}${ignored.length > 0 ? `Ignored columns: ${listNames(ignored)}.\n` : ""}`;
}

function formatErrors({ errors, invalid }: ImportSummary): string {
  const more = invalid > errors.length ? [`… and ${count(invalid - errors.length)} more.`] : [];
  return [...errors, ...more, "Nothing was imported."].join("\n");
}
