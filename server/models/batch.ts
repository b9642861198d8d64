// Batches of the changes that visitors request: one batch at a time, with the changes that arrived during the previous one.
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { Prisma } from "../database/generated/client.ts";
import { timeLimits, within } from "../config/time-limits.ts";
import { errorFields, UnavailableError } from "../errors.ts";

/** Changes per statement. */
const batchSize = 200;
/** Statements at once of changes that go alone, beside one batch (poolSize). */
export const statementsAlone = 4;

interface Pending<Change, Result> {
  change: Change;
  deadline: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function that makes one change, and resolves after its commit. It takes at least `timeLimits.floor`, so that its time does not
 * tell what the statement found. It throws an UnavailableError after `timeLimits.change` at the latest; the change may then still be made.
 * @param store runs one statement, and resolves with a result for each change.
 */
export function batchChanges<Change, Result>(store: (changes: Change[]) => Promise<Result[]>) {
  const waiting: Pending<Change, Result>[] = [];
  let isRunning = false;
  const alone = pLimit(statementsAlone);

  async function runBatches() {
    if (isRunning) return;
    isRunning = true;
    await setImmediate(); // For the changes that arrive together.
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchSize);
      await attempt(batch).catch((error: unknown) => {
        if (isOfOneChange(error)) batch.forEach((pending) => void alone(runAlone, pending));
        else batch.forEach(({ reject }) => reject(error));
      });
    }
    isRunning = false;
  }

  const runAlone = (pending: Pending<Change, Result>) => attempt([pending]).catch(pending.reject);

  async function attempt(batch: Pending<Change, Result>[]) {
    const inTime = batch.filter(({ deadline }) => performance.now() < deadline); // The others have been refused.
    if (inTime.length === 0) return;
    const results = await store(inTime.map(({ change }) => change));
    inTime.forEach(({ resolve }, i) => resolve(results[i] as Result));
  }

  return async (change: Change): Promise<Result> => {
    const floor = sleep(timeLimits.floor);
    const deadline = performance.now() + timeLimits.change;
    const result = new Promise<Result>((resolve, reject) => waiting.push({ change, deadline, resolve, reject }));
    void runBatches();
    try {
      return await within(timeLimits.change, result);
    } catch (cause) {
      const message = "The waitlist can't be changed right now. Please try again.";
      throw new UnavailableError(message, timeLimits.retryAfterSeconds, cause);
    } finally {
      await floor;
    }
  };
}

/**
 * Returns whether one change may have caused the error: Postgres refused a value (the classes 22 and 23), or another transaction holds
 * its entry (a lock, statement or serialization failure, or a deadlock).
 */
const isOfOneChange = (error: unknown) => /^(2[23]...|55P03|57014|40P01|40001)$/.test(errorFields(error).code ?? "");

/**
 * Begins a statement that makes changes: `batch.rows` has them as JSON. An empty message in the write-ahead log makes it wait for the
 * disk whatever they are: otherwise, a known address would take less time, and a full disk would refuse new ones only. Each statement
 * brings its settings, because a pooler drops those of a session, and a role may have others.
 */
export const batchOf = (changes: object[]) => Prisma.sql`
  WITH batch AS MATERIALIZED (
    SELECT set_config('lock_timeout', ${String(timeLimits.lock)}, true), set_config('synchronous_commit', 'on', true),
      pg_logical_emit_message(true, 'earlyaccess', ''), ${JSON.stringify(changes)}::json AS rows)`;
