// The list as CSV or JSON lines: the COPY statements of export and invite.
import type { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { guard } from "./csv-guard.ts";
import { fieldColumns, sourceColumns } from "../../database/columns.ts";

const stateColumns = ["status", "created_at", "confirmed_at", "mail_refusal"];
export const exportedColumns = [...fieldColumns, ...stateColumns, "suspected_spam", ...sourceColumns, "imported", "id"];

/** The columns whose text comes from a visitor or a mail server. */
const textColumns = new Set<string>([...fieldColumns, ...sourceColumns, "mail_refusal"]);
const booleanColumns = new Set(["suspected_spam", "imported"]);

function toCsvCell(column: string): string {
  if (textColumns.has(column)) return `${guard(column)} AS ${column}`;
  // COPY writes a boolean as "f", which programs take for a text, and many of them so for true.
  if (booleanColumns.has(column)) return `${column}::text AS ${column}`;
  // The time zone of the connection is UTC.
  return column.endsWith("_at") ? `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${column}` : column;
}

const csv = (condition: string, delimiter: string) =>
  `COPY (SELECT ${exportedColumns.map(toCsvCell).join(", ")} FROM public.earlyaccess WHERE ${condition})
   TO STDOUT (FORMAT csv, HEADER, DELIMITER '${delimiter}')`;

/** The COPY statement of each format, for the entries that meet an SQL condition. */
const statements = {
  csv: (condition: string) => csv(condition, ","),
  excel: (condition: string) => csv(condition, "\t"),
  // COPY changes no byte of JSON text here, because JSON text has no control characters.
  ndjson: (condition: string) =>
    `COPY (SELECT row_to_json(entry) FROM (SELECT ${exportedColumns.join(", ")} FROM public.earlyaccess WHERE ${condition}) AS entry)
     TO STDOUT (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')`,
};

export type ExportFormat = keyof typeof statements;

/** Copies the entries that meet an SQL condition; ends the output unless it is stdout. Returns the number of entries. */
export async function copyList(client: pg.Client, format: ExportFormat, condition: string, output: Writable) {
  const rows = client.query(copyTo(statements[format](condition)));
  const options = { end: output !== process.stdout };
  // Excel knows the encoding of UTF-16 with a byte order mark, and splits it at tabs whatever the country's list separator is.
  await (format === "excel" ? pipeline(rows, toUtf16, output, options) : pipeline(rows, output, options));
  return rows.rowCount;
}

export async function* toUtf16(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const decoder = new StringDecoder("utf8"); // A chunk may end within a character.
  yield Buffer.from("\uFEFF", "utf16le");
  for await (const chunk of chunks) yield Buffer.from(decoder.write(chunk), "utf16le");
}

export const invitationHeader = `${fieldColumns.join()}\n`;

/** Reads the list of those who are still invited. It has each address as it is, because a mailing tool reads it. */
export function readInvitation(client: pg.Client, invitation: string, { header }: { header: boolean }) {
  const cells = fieldColumns.map((column) => (column === "email" ? column : toCsvCell(column)));
  const copy = `COPY (SELECT ${cells.join(", ")} FROM public.earlyaccess
    WHERE invitation = ${pg.escapeLiteral(invitation)} AND status = 'invited' ORDER BY created_at, id)
    TO STDOUT (FORMAT csv, HEADER ${header})`;
  return client.query(copyTo(copy));
}

/** Returns the number of people. Ends the output unless it is stdout. */
export async function copyInvitation(client: pg.Client, invitation: string, output: Writable): Promise<number> {
  const rows = readInvitation(client, invitation, { header: true });
  await pipeline(rows, output, { end: output !== process.stdout });
  return rows.rowCount;
}
