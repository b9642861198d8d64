// Batches of invited people: the statements that mark, return and count them.
import type pg from "pg";
import { OperatorError, printableName } from "../../../operator-messages.ts";
import { isFinal, isFlagged } from "../../../models/waitlist-entry.ts";
import { sourceName } from "../../../models/source.ts";

export interface Choice {
  /** The most people to invite. */
  first: number;
  /** As stats names it; null means any. */
  source: string | null;
  /** Only people who confirmed their address. */
  confirmed: boolean;
}

/** An SQL condition with the parameters of `parametersOf`. */
const isChosen = `status = 'waiting' AND NOT ${isFlagged} AND ${isFinal}
  AND ($1::text IS NULL OR ${sourceName} = $1) AND (NOT $2 OR confirmed_at IS NOT NULL)`;

const parametersOf = ({ source, confirmed }: Choice) => [source, confirmed];

/** While a transaction holds an entry, sign-ups of its address get 503, and others do not. So each changes few entries. */
const mostAtOnce = 1_000;
/** Each search for candidates sorts the whole list. */
const mostCandidates = 20_000;

/** Returns a name with the time in UTC and the transaction's number, which Postgres never gives twice. */
export async function nameBatch(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ batch: string }>(
    "SELECT to_char(CURRENT_TIMESTAMP, 'YYYY-MM-DD-HH24MI-') || pg_current_xact_id() AS batch",
  );
  return (rows[0] as { batch: string }).batch;
}

/**
 * Marks the oldest chosen people as invited, at most 1,000 in each transaction. People whom another transaction holds are
 * skipped, so that two runs never take the same person.
 * @returns how many.
 */
export async function markOldest(client: pg.Client, choice: Choice, batch: string): Promise<number> {
  let people = 0;
  while (people < choice.first) {
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM public.earlyaccess WHERE ${isChosen} ORDER BY created_at, id LIMIT $3
       FOR UPDATE SKIP LOCKED`,
      [...parametersOf(choice), Math.min(mostCandidates, choice.first - people)],
    );
    if (rows.length === 0) break;
    for (let i = 0; i < rows.length; i += mostAtOnce) {
      const { rowCount } = await client.query(
        `UPDATE public.earlyaccess SET status = 'invited', batch = $4
         WHERE id IN (SELECT id FROM public.earlyaccess WHERE ${isChosen} AND id = ANY ($3) FOR UPDATE SKIP LOCKED)`,
        [...parametersOf(choice), rows.slice(i, i + mostAtOnce).map(({ id }) => id), batch],
      );
      people += rowCount ?? 0; // Another run may have taken some meanwhile; the next search finds others.
    }
  }
  return people;
}

/** Returns how many people match, without the limit. */
export async function countChosen(client: pg.Client, choice: Choice): Promise<number> {
  const { rows } = await client.query<{ people: number }>(
    `SELECT count(*)::int AS people FROM public.earlyaccess WHERE ${isChosen}`,
    parametersOf(choice),
  );
  return (rows[0] as { people: number }).people;
}

/**
 * Returns how many people became waiting again, and how many have another status by now and stay in the batch.
 * @throws OperatorError if there is no such batch.
 */
export async function undoBatch(client: pg.Client, batch: string): Promise<{ returned: number; moved: number }> {
  let returned = 0;
  for (let after = "00000000-0000-0000-0000-000000000000"; ;) {
    const { rows } = await client.query<{ id: string }>(
      `WITH returned AS (
         UPDATE public.earlyaccess SET status = 'waiting', batch = NULL
         WHERE id IN (SELECT id FROM public.earlyaccess WHERE batch = $1 AND status = 'invited' AND id > $2
                      ORDER BY id LIMIT $3)
         RETURNING id
       )
       SELECT id FROM returned ORDER BY id`,
      [batch, after, mostAtOnce],
    );
    const last = rows.at(-1);
    if (!last) break;
    returned += rows.length;
    after = last.id;
  }
  const { rows } = await client.query<{ moved: number }>(
    "SELECT count(*)::int AS moved FROM public.earlyaccess WHERE batch = $1",
    [batch],
  );
  const outcome = { returned, moved: rows[0]?.moved ?? 0 };
  if (outcome.returned + outcome.moved > 0) return outcome;
  throw new OperatorError(`There is no batch "${printableName(batch)}". See: waitlist invite --list`);
}

export interface Batch {
  batch: string;
  people: number;
  /** Those of `people` who still have the status invited. */
  invited: number;
  joined: number;
}

/** Returns all batches, the newest first: a name begins with the time. */
export async function listBatches(client: pg.Client): Promise<Batch[]> {
  const { rows } = await client.query<Batch>(
    `SELECT batch, count(*)::int AS people, (count(*) FILTER (WHERE status = 'invited'))::int AS invited,
            (count(*) FILTER (WHERE status = 'joined'))::int AS joined
     FROM public.earlyaccess WHERE batch IS NOT NULL GROUP BY batch ORDER BY batch DESC`,
  );
  return rows;
}
