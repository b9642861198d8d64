// The list as CSV or JSON lines: the COPY statements of export and invite.
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { guard } from "./csv-guard.ts";
import { fieldColumns, flags, sourceColumns } from "../../database/columns.ts";

const stateColumns = ["status", "created_at", "confirmed_at", "mail_refusal"];
const exportedColumns = [...fieldColumns, ...stateColumns, ...flags, ...sourceColumns, "imported", "id"];

/** The columns whose text comes from a visitor or a mail server. */
const textColumns = new Set<string>([...fieldColumns, ...sourceColumns, "mail_refusal"]);

function toCsvCell(column: string): string {
  if (textColumns.has(column)) return `${guard(column)} AS ${column}`;
  // The time zone of the connection is UTC.
  return column.endsWith("_at") ? `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${column}` : column;
}

/** The COPY statement of each format, for the entries that meet an SQL condition. */
export const exportFormats = {
  csv: (condition: string, delimiter = ",") =>
    `COPY (SELECT ${exportedColumns.map(toCsvCell).join(", ")} FROM public.earlyaccess WHERE ${condition})
     TO STDOUT (FORMAT csv, HEADER, DELIMITER '${delimiter}')`,
  // COPY changes no byte of JSON text here, because JSON text has no control characters.
  ndjson: (condition: string) =>
    `COPY (SELECT row_to_json(entry) FROM (SELECT ${exportedColumns.join(", ")} FROM public.earlyaccess WHERE ${condition}) AS entry)
     TO STDOUT (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')`,
};

/** Ends the output unless it is stdout. Returns the number of rows. */
export async function copyRows(client: pg.Client, copy: string, output: Writable): Promise<number> {
  const rows = client.query(copyTo(copy));
  await pipeline(rows, output, { end: output !== process.stdout });
  return rows.rowCount;
}

/** Copies each address as it is, because a mailing tool reads it. Returns the number of people. */
export async function copyInvitation(client: pg.Client, invitation: string, output: Writable): Promise<number> {
  const cells = fieldColumns.map((column) => (column === "email" ? column : toCsvCell(column)));
  const copy = `COPY (SELECT ${cells.join(", ")} FROM public.earlyaccess
    WHERE invitation = ${pg.escapeLiteral(invitation)} AND status = 'invited' ORDER BY created_at, id) TO STDOUT (FORMAT csv, HEADER)`;
  return copyRows(client, copy, output);
}
