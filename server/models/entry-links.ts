// The links that confirm or delete an entry.
import { Prisma } from "../database/generated/client.ts";
import type { Database } from "../database/site-database.ts";
import { batchOf, batchChanges } from "./batch.ts";
import { hashToken } from "./entry-tokens.ts";

export type EntryLinks = ReturnType<typeof createEntryLinks>;

interface Link {
  confirms: boolean;
  hash: string;
}

/** Each method resolves after the commit. @throws UnavailableError */
export function createEntryLinks(query: Database["query"]) {
  async function follow(links: Link[]): Promise<boolean[]> {
    const numbered = links.map((link, position) => ({ ...link, position }));
    // In the order of their hashes: otherwise, replicas could each hold an entry that the other needs. The functions stand in SELECT:
    // in WHERE, Postgres would run them before the batch's settings.
    const rows = await query<{ position: number; done: boolean }>(Prisma.sql`${batchOf(numbered)}
      SELECT position,
        CASE WHEN confirms THEN public.earlyaccess_confirm(hash::bytea) ELSE public.earlyaccess_leave(hash::bytea) END AS done
      FROM batch, json_to_recordset(rows) AS link (confirms boolean, hash text, position int) ORDER BY hash, position`);
    const done = new Set(rows.flatMap((row) => (row.done ? row.position : [])));
    return links.map((_, position) => done.has(position));
  }

  const followLink = batchChanges(follow);
  return {
    /** Returns whether an entry has the token of a mail, also if it was confirmed before. */
    confirm: (token: string): Promise<boolean> => followLink({ confirms: true, hash: hashToken(token) }),
    /** Resolves alike if no entry has the token, so that nobody learns whether the sign-up with this token added an entry. */
    leave: async (token: string): Promise<void> => {
      await followLink({ confirms: false, hash: hashToken(token) });
    },
  };
}
