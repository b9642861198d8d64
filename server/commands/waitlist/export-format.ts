// The formats of an export: CSV as in RFC 4180, and JSON lines. Both hold the same columns.
import { sourceColumns } from "../../models/source.ts";
import { flags } from "../../models/waitlist-entry.ts";
import { unescape, type Column, type LineFormat } from "./copied-rows.ts";
import { guard } from "./spreadsheet-cell.ts";

const texts = ["name", "email", "company", "job_title"];
const names = [...texts, "status", "created_at", ...flags, ...sourceColumns, "id"];

const isFlag = new Set<string>(flags);
const isTyped = new Set<string>([...texts, ...sourceColumns]);
const asJson = (name: string) => `to_json(${name})`;

const csvColumns = names.map((name, i): Column => {
  const before = i === 0 ? "" : ",";
  const after = i === names.length - 1 ? "\r\n" : "";
  const column = { select: name, nothing: before + after, before, after };
  if (isTyped.has(name)) return { ...column, encode: encodeCsv };
  // Formatted here, as to_char would cost a quarter of the rate; as JSON, whatever the server's DateStyle is.
  return name === "created_at" ? { ...column, select: asJson(name), encode: encodeTime } : column;
});

/** An empty text has quotes, as NULL has none. */
function encodeCsv(copied: string): string {
  const cell = guardBytes(unescape(copied));
  return cell === "" || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Guards a cell of which each character is a byte; only full-width characters have to be decoded for that. */
function guardBytes(bytes: string): string {
  if (!bytes.includes("\u00EF\u00BC")) return guard(bytes);
  return Buffer.from(guard(Buffer.from(bytes, "latin1").toString())).toString("latin1");
}

/** "2026-01-31T12:00:00.5+00:00", with the quotes, as 2026-01-31T12:00:00.500Z; the connection's time zone is UTC. */
function encodeTime(json: string): string {
  const end = json.indexOf("+");
  if (end < 0) return ""; // It may be infinity.
  const dot = json.indexOf(".");
  const zeros = dot < 0 ? ".000" : "00".slice(end - dot - 2);
  return `${json.slice(1, end)}${zeros}Z`;
}

const jsonColumns = names.map((name, i): Column => {
  const key = `${i === 0 ? "{" : ","}"${name}":`;
  const after = i === names.length - 1 ? "}\n" : "";
  const nothing = `${key}null${after}`;
  if (name === "created_at" || isFlag.has(name)) return { select: asJson(name), nothing, before: key, after };
  return { select: name, nothing, before: `${key}"`, after: `"${after}`, encode: encodeJson };
});

/** Without the quotes. */
function encodeJson(copied: string): string {
  return JSON.stringify(unescape(copied)).slice(1, -1);
}

export const formats: Record<string, LineFormat> = {
  csv: { header: `${names.join(",")}\r\n`, columns: csvColumns },
  ndjson: { header: "", columns: jsonColumns },
};
