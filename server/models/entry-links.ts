// The links that confirm or delete an entry.
import { turn } from "./equal-response-time.ts";
import type { Database } from "../database/pool.ts";
import { hashToken } from "./entry-tokens.ts";
import { Batches } from "./batch.ts";

export type EntryLinks = ReturnType<typeof createEntryLinks>;

interface Link {
  confirms: boolean;
  hash: string;
}

const nameOf = (link: Link) => `${link.confirms} ${link.hash}`;

/** The functions stand in SELECT: in WHERE, Postgres would run them without the turn. */
const statement = `${turn}
  SELECT CASE WHEN confirms THEN public.earlyaccess_confirm(hash::bytea) ELSE public.earlyaccess_leave(hash::bytea) END AS done
  FROM turn, ROWS FROM (json_to_recordset(batch) AS (confirms boolean, hash text)) WITH ORDINALITY AS link (confirms, hash, position)
  ORDER BY position`;

/** Each method resolves after the commit. @throws UnavailableError */
export function createEntryLinks(query: Database["query"]) {
  const batches = new Batches(
    async (links: Link[]) => {
      // Otherwise, repeated links of a locked entry make the statement long.
      const distinct = new Map(links.map((link) => [nameOf(link), link]));
      const rows = await query(statement, JSON.stringify([...distinct.values()]));
      const done = new Map([...distinct.keys()].map((name, i) => [name, rows[i]?.done === true]));
      return links.map((link) => done.get(nameOf(link)) === true);
    },
    (link) => link.hash,
  );
  return {
    /** Returns whether an entry has the token of a mail, also if it was confirmed before. */
    confirm: (token: string): Promise<boolean> => batches.add({ confirms: true, hash: hashToken(token) }),
    /** Resolves alike if no entry has the token, so that nobody learns whether the sign-up with this token added an entry. */
    leave: async (token: string): Promise<void> => {
      await batches.add({ confirms: false, hash: hashToken(token) });
    },
  };
}
