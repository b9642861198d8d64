// Everything that the database keeps about the person with an address, and its text for a terminal.
import type pg from "pg";
import { printable } from "../../operator-messages.ts";
import { spellings } from "./address.ts";

/** Of a column in JSON. */
export type Value = string | boolean | null;

/** Times are in ISO 8601, bytes in hexadecimal. */
export interface Person {
  /** All columns. */
  entry: Record<string, Value>;
  /** The import that added the entry, if its row exists. */
  import: { started_at: string; finished_at: string | null } | null;
  /** The privacy notice that the form showed, if the site stored it. */
  notice: { id: string; text: string; shown_at: string } | null;
  /** The oldest first. */
  status_changes: { id: number; changed_at: string; changed_by: string; old_status: string; new_status: string }[];
}

/** Returns more than one person only if an entry from another source than a sign-up has the address in another spelling. */
export async function findPeople(client: pg.Client, address: string): Promise<Person[]> {
  const { rows } = await client.query<Person>(
    `SELECT row_to_json(listed) AS entry,
       (SELECT row_to_json(import) FROM public.earlyaccess_imports AS import WHERE import.id = import_id) AS import,
       (SELECT row_to_json(notice) FROM public.earlyaccess_notices AS notice WHERE notice.id = notice_id) AS notice,
       (SELECT coalesce(json_agg(change ORDER BY id), '[]')
        FROM (SELECT id, changed_at, changed_by, old_status, new_status FROM public.earlyaccess_status_changes
              WHERE entry_id = listed.id) AS change) AS status_changes
     FROM public.earlyaccess AS listed WHERE email = ANY ($1) ORDER BY email`,
    [spellings(address)],
  );
  return rows;
}

/** For example "2026-01-31 12:00:00.000 UTC". */
export function formatTime(iso: string): string {
  return new Date(iso).toISOString().replace("T", " ").replace("Z", " UTC");
}

export function describeOrigin({ entry, import: added }: Person): string {
  if (entry.import_id === null) return "sign-up";
  return `import of ${added ? formatTime(added.started_at) : "an unknown time"}`;
}

/** Each value is one line: a field cannot imitate another one, or the notice. */
export function describeRows(rows: [string, Value | undefined][]): string {
  const width = Math.max(12, ...rows.map(([name]) => name.length));
  const format = (name: string, value: string) =>
    value && name.endsWith("_at") ? formatTime(value) : printable(value);
  return rows
    .map(([name, value]) => `${name.padEnd(width)}  ${format(name, String(value ?? ""))}`.trimEnd())
    .join("\n")
    .concat("\n");
}
