// Changes of entries at a visitor's request: one statement at a time, each with all changes that arrived meanwhile.
import { setTimeout as sleep } from "node:timers/promises";
import { errorFields, UnavailableError } from "../errors.ts";
import { within } from "../database/pool.ts";

/** In milliseconds from the arrival of a change; the response must come within 5 s. */
const deadlineMs = 4_500;
/** Changes per statement: all of them, then groups, then each alone. One locked entry among 200 costs three lock timeouts. */
const groupSizes = [200, 15, 1] as const;
/**
 * In milliseconds, after a statement on a slow disk: the clients that it answered send their next changes together. Otherwise they
 * split into two groups that wait for each other's disk, which stores half as many.
 */
const mostPauseMs = 10;

/**
 * The beginning of a statement that changes entries; `turn.batch` is its parameter $1. It makes the statement take the same time for
 * known and new addresses, for valid and forged tokens:
 * - A message in the write-ahead log makes the commit wait for the disk, also if no entry changes.
 * - A lock, one for the table, makes statements on the same entry wait alike, whatever the first one of them changed.
 *
 * Postgres takes the turn before anything that depends on `turn.batch`. Ten replicas on a disk of 30 ms wait 0.3 s for their turn.
 */
export const turn = `
  WITH turn AS MATERIALIZED (
    SELECT set_config('lock_timeout', '1900ms', true), pg_advisory_xact_lock('public.earlyaccess'::regclass::oid::bigint),
      set_config('lock_timeout', '400ms', true), pg_logical_emit_message(true, 'earlyaccess', ''), $1::json AS batch)`;

interface Change<Entry, Result> {
  entry: Entry;
  deadline: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function that makes one change. If a statement fails for its content or for a lock, its changes are repeated in smaller
 * groups, so that only the one at fault fails. Throws an UnavailableError after 4.5 s at the latest; the change may then
 * still be made.
 * @param store runs one statement with the entries, and resolves after the commit with a result for each.
 */
export function inBatches<Entry, Result>(
  store: (entries: Entry[]) => Promise<Result[]>,
): (entry: Entry) => Promise<Result> {
  const waiting: Change<Entry, Result>[] = [];
  let isRunning = false;

  async function run() {
    while (waiting.length > 0) {
      const began = performance.now();
      const batch = waiting.splice(0, groupSizes[0]);
      await storeBatch(batch);
      const pauseMs = Math.min((performance.now() - began) / 5, mostPauseMs);
      if (batch.length > 1 && pauseMs >= 1) await sleep(pauseMs);
    }
    isRunning = false;
  }

  async function storeBatch(batch: Change<Entry, Result>[]) {
    let open = batch;
    for (const size of groupSizes) {
      const failed: typeof batch = [];
      for (let start = 0; start < open.length; start += size) {
        const group = open.slice(start, start + size).filter(({ deadline }) => performance.now() < deadline);
        if (group.length === 0) continue;
        try {
          const results = await store(group.map(({ entry }) => entry));
          group.forEach(({ resolve }, i) => resolve(results[i] as Result));
        } catch (error) {
          if (size > 1 && concernsOneEntry(error)) failed.push(...group);
          else for (const { reject } of group) reject(error);
        }
      }
      open = failed;
    }
  }

  return async (entry) => {
    const change = new Promise<Result>((resolve, reject) => {
      waiting.push({ entry, deadline: performance.now() + deadlineMs, resolve, reject });
      if (!isRunning) setImmediate(run);
      isRunning = true;
    });
    try {
      return await within(deadlineMs, change);
    } catch (cause) {
      const message = "The waitlist can't be changed right now. Please try again.";
      throw new UnavailableError(message, 15, cause); // Long enough for a database to restart, short enough for a visitor to wait.
    }
  };
}

/** Returns whether one entry may be at fault: Postgres refused a value (22, 23), or a transaction holds a row: a timeout or a deadlock. */
function concernsOneEntry(error: unknown): boolean {
  return /^(2[23]|57014$|55P03$|40P01$)/.test(errorFields(error).code ?? "");
}
