// Everything that the database keeps about a person.
import type pg from "pg";
import { normaliseAddress } from "./waitlist-entry.ts";

/** Times are in ISO 8601, bytes in hexadecimal. */
export interface Person {
  entry: { id: string; email: string; created_at: string; status: string; [column: string]: string | boolean | null };
  /** The privacy notice that the sign-up named, if the site stored it. */
  notice: { id: string; text: string; shown_at: string } | null;
  /** The oldest first. */
  status_changes: { changed_at: string; changed_by: string; old_status: string; new_status: string }[];
}

/**
 * Looks the address up as a sign-up stores it and as Studio may store it, which accepts addresses that a sign-up refuses.
 * @returns more than one person only if the list, edited by hand, has the address in two spellings.
 */
export async function findPeople(client: pg.Client, address: string): Promise<Person[]> {
  const spellings = [normaliseAddress(address) ?? "", address.trim().normalize("NFC").toLowerCase()];
  const { rows } = await client.query<Person>(
    `SELECT row_to_json(listed) AS entry,
       (SELECT row_to_json(notice) FROM public.earlyaccess_notices AS notice WHERE notice.id = notice_id) AS notice,
       (SELECT coalesce(json_agg(change ORDER BY id), '[]') FROM public.earlyaccess_status_changes AS change
        WHERE entry_id = listed.id) AS status_changes
     FROM public.earlyaccess AS listed WHERE email = ANY ($1) ORDER BY email`,
    [spellings],
  );
  return rows;
}
