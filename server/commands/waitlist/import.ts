// waitlist import: adds the entries of a CSV file, after all of its lines passed the checks of a sign-up.
import { Command, Option } from "commander";
import type pg from "pg";
import { v7 as uuidv7 } from "uuid";
import { fieldErrors } from "../../../client/shared/content.ts";
import { isQueueEnabled } from "../../database/queue.ts";
import { queueMissingMails } from "../../models/operators/mail-state.ts";
import { checkEntries, insertLines, type CheckedEntries, type ImportedEntry } from "../../models/operators/import.ts";
import { isOfAddress, namesAddress } from "../../models/operators/mails.ts";
import { parseEntry } from "../../models/sign-up-rules.ts";
import { errorFields, OperatorError } from "../../errors.ts";
import { formatCount, print, withOwner } from "../command.ts";
import { listNames } from "./files.ts";
import { openImport, type ImportFile, type ImportLine, type ImportOptions } from "./import-columns.ts";
import { readMoment } from "./moment.ts";
import { sourceName } from "./read-csv.ts";

export const importCommand = new Command("import")
  .summary("adds the entries of a CSV file to the list, or none if a line is invalid")
  .description(
    "The first line names the columns as export does, in any order and case and with any spaces or hyphens; first name " +
      "and last name can stand for name. Those that the form requires must be there. A column that export lacks stops " +
      "the import, because it could say who unsubscribed or bounced; so does a status of another tool. import names " +
      "the columns that it ignores; confirmed_at is one, because only the link in the confirmation " +
      "mail confirms an address. The delimiter is a comma, a semicolon or a tab. Each line must pass the checks of a " +
      "sign-up; if an entry has several lines, messages name its last one. import skips addresses that are on the " +
      "list or earlier in the file and erased addresses, unless the line's created at is later than " +
      "the erasure. If import stops midway, run the same command again.",
  )
  .argument("FILE", "or - for stdin")
  .option(
    "--own",
    "the file is an export of this list on another host: take confirmed_at, mail_refusal and imported, and queue mails",
  )
  .addOption(
    new Option(
      "--ignore <NAME>",
      "leave out this column (repeatable); first remove the people of whom it says that they unsubscribed or bounced",
    ).argParser((name: string, earlier: string[] | undefined) => [...(earlier ?? []), name]),
  )
  .option("--dry-run", "report what an import would do, and change nothing")
  .action(async (path: string, options: ImportOptions & { dryRun?: boolean }) => {
    const { dryRun, own } = options;
    const file = await openImport(path, options);
    await withOwner(async (client) => {
      const summary = await checkLines(client, file);
      print(formatSummary(summary, file.ignored));
      if (summary.invalid > 0) throw new OperatorError(formatErrors(summary));
      if (summary.valid === 0) throw new OperatorError(`${sourceName(path)} has no line below the first one.`);
      if (dryRun) return print(`Would import ${formatCount(summary.entries - summary.known)}; nothing was changed.\n`);
      const inserted = await insertLines(client, summary.valid).catch((error: unknown) => {
        throw describeStop(error);
      });
      print(`Imported ${formatCount(inserted)}.\n`);
      if (own && (await isQueueEnabled(client, "mail"))) {
        print(`Mails queued: ${formatCount(await queueMissingMails(client))}.\n`);
      }
    });
  });

interface WrongLines {
  invalid: number;
  /** What is wrong with the first ones. */
  errors: string[];
}

type ImportSummary = CheckedEntries & WrongLines;

const maxErrors = 20;

async function checkLines(client: pg.Client, { lines }: ImportFile): Promise<ImportSummary> {
  const wrong: WrongLines = { invalid: 0, errors: [] };
  const checked = await checkEntries(client, readEntries(lines, wrong));
  return { ...checked, ...wrong };
}

async function* readEntries(lines: ImportFile["lines"], wrong: WrongLines): AsyncGenerator<ImportedEntry> {
  for await (const line of lines) {
    const read = readLine(line);
    if (typeof read !== "string") yield read;
    else if (wrong.invalid++ < maxErrors) wrong.errors.push(`Line ${line.number}: ${read}`);
  }
}

/** Returns the entry, or what is wrong: columns and rules, no value. */
function readLine({ cells }: ImportLine): ImportedEntry | string {
  if (!cells) return "more cells than the header has names";
  const { first_name = "", last_name = "" } = cells;
  const fields: Record<string, string> = { ...cells, name: cells.name?.trim() || `${first_name} ${last_name}` };
  const parsed = parseEntry({ ...fields, referrer: cells.referrer_host });
  if (!parsed.ok) {
    const errors = Object.entries(parsed.errors);
    return errors.map(([field, error]) => `${field}: ${explainField(error, fields[field])}`).join(" ");
  }
  const others = readOtherColumns(cells);
  return typeof others === "string" ? others : { ...parsed.entry, id: uuidv7(), ...others };
}

/** Replaces the form's request to type the text again. */
function explainField(error: string, cell = ""): string {
  if (error !== fieldErrors.unstorable) return error;
  return /[\r\n]/.test(cell.trim())
    ? "a line break. Write it in one line."
    : "a character that cannot be stored. Remove it.";
}

type OtherColumn = "created_at" | "status" | "confirmed_at" | "mail_refusal" | "imported" | "suspected_spam";

/** Returns the columns that a sign-up does not have, or what is wrong with one. */
function readOtherColumns(cells: Record<string, string>): Pick<ImportedEntry, OtherColumn> | string {
  const read = (column: OtherColumn) => (cells[column] ?? "").trim();
  const createdAt = readPast(read("created_at"));
  if (read("created_at") && !createdAt) return "created_at: not a past date like 2026-01-31 or 2026-01-31T18:00:00Z";
  if (!isBoolean.test(read("suspected_spam"))) return "suspected_spam: not true or false.";
  const refusal = read("mail_refusal");
  if (refusal && !isOfAddress(refusal)) return "mail_refusal: neither bounced nor a code like 550 5.1.1.";
  return {
    created_at: createdAt?.toISOString() ?? null,
    status: read("status").toLowerCase() || null,
    confirmed_at: readPast(read("confirmed_at"))?.toISOString() ?? null,
    // A bare refusal may have been about the other host: the mail is tried again.
    mail_refusal: refusal === "bounced" || namesAddress(refusal) ? refusal : null,
    imported: cells.imported === undefined || isTrue.test(read("imported")),
    suspected_spam: isTrue.test(read("suspected_spam")),
  };
}

/** Postgres has no year 0. */
function readPast(text: string): Date | undefined {
  const moment = readMoment(text);
  return moment && moment.getUTCFullYear() > 0 && moment.getTime() <= Date.now() ? moment : undefined;
}

/** COPY writes "t" and "f". */
const isTrue = /^t(?:rue)?$/i;
const isBoolean = /^(?:t(?:rue)?|f(?:alse)?)?$/i;

function describeStop(cause: unknown): OperatorError {
  const reason = errorFields(cause).code ?? "the connection is lost";
  const remedy = "Run the same command again: it skips addresses that are on the list.";
  return new OperatorError(`The import stopped midway (${reason}). ${remedy}`, { cause });
}

function formatSummary(summary: ImportSummary, ignored: string[]): string {
  const { valid, invalid, erased, entries, known } = summary;
  const counts = [
    `${formatCount(valid + invalid)} lines, ${formatCount(known)} already on the list`,
    `${formatCount(valid - erased - entries)} twice in the file`,
    `${formatCount(erased)} erased`,
    `${formatCount(invalid)} wrong.\n`,
  ];
  return counts.join(", ") + (ignored.length > 0 ? `Ignored columns: ${listNames(ignored)}.\n` : "");
}

function formatErrors({ errors, invalid }: WrongLines): string {
  const more = invalid > errors.length ? [`… and ${formatCount(invalid - errors.length)} more.`] : [];
  return [...errors, ...more, "Nothing was imported."].join("\n");
}
