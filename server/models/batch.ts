// Batches of the changes that visitors request: one batch at a time, with the changes that arrived during the previous one.
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { Prisma } from "../database/generated/client.ts";
import { timeLimits } from "../time-limits.ts";
import { errorFields, UnavailableError, within } from "../errors.ts";

/** Changes per statement. */
const batchSize = 200;
/** Statements at once of changes that go alone, beside one batch and one change that waits for a lock (poolSize). */
export const statementsAlone = 3;

interface Pending<Change, Result> {
  change: Change;
  deadline: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function that makes one change, and resolves after its commit. It takes at least `timeLimits.floor`, so that its time does not
 * tell what the statement found. It throws an UnavailableError after `timeLimits.change` at the latest; the change may then still be made.
 * @param store runs one statement, which waits for a lock for `lockMs`, and resolves with a result for each change.
 * @param keyOf names the entry of a change.
 */
export function createBatch<Change, Result>(
  store: (changes: Change[], lockMs: number) => Promise<Result[]>,
  keyOf: (change: Change) => string,
) {
  const waiting: Pending<Change, Result>[] = [];
  /** Changes of entries that another session holds: they wait for the lock one after the other, and behind them nobody else. */
  const held: Pending<Change, Result>[] = [];
  let isRunning = false;
  const alone = pLimit(statementsAlone);

  const isHeld = (pending: Pending<Change, Result>) =>
    held.some(({ change }) => keyOf(change) === keyOf(pending.change));

  function add(pending: Pending<Change, Result>) {
    if (isHeld(pending)) {
      void waitForLock(pending); // It would fail the next batch.
    } else {
      waiting.push(pending);
      void runBatches();
    }
  }

  async function runBatches() {
    if (isRunning) return;
    isRunning = true;
    await setImmediate(); // For the changes that arrive together.
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchSize);
      await attempt(batch, timeLimits.lock).catch((error: unknown) => {
        if (isOfOneChange(error)) batch.forEach((pending) => void alone(runAlone, pending));
        else batch.forEach(({ reject }) => reject(error));
      });
    }
    isRunning = false;
  }

  async function runAlone(pending: Pending<Change, Result>) {
    try {
      // Another change of the batch may have met the lock: a second attempt would delay those behind it.
      if (!isHeld(pending)) return await attempt([pending], timeLimits.lock);
    } catch (error) {
      if (codeOf(error) !== lockNotAvailable) return pending.reject(error);
    }
    void waitForLock(pending);
  }

  async function waitForLock(pending: Pending<Change, Result>) {
    if (held.push(pending) > 1) return;
    for (let first; (first = held[0]); held.shift()) await attempt([first], timeLimits.lockAlone).catch(first.reject);
  }

  async function attempt(batch: Pending<Change, Result>[], lockMs: number) {
    const inTime = batch.filter(({ deadline }) => performance.now() < deadline); // The others have been refused.
    if (inTime.length === 0) return;
    const changes = inTime.map(({ change }) => change);
    const results = await store(changes, lockMs);
    inTime.forEach(({ resolve }, i) => resolve(results[i] as Result));
  }

  return async (change: Change): Promise<Result> => {
    const floor = sleep(timeLimits.floor);
    const deadline = performance.now() + timeLimits.change;
    const result = new Promise<Result>((resolve, reject) => add({ change, deadline, resolve, reject }));
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

const codeOf = (error: unknown) => errorFields(error).code ?? "";
const lockNotAvailable = "55P03";

/**
 * Returns whether one change may have caused the error: Postgres refused a value (the classes 22 and 23), or another transaction holds
 * its entry (a lock, statement or serialization failure, or a deadlock).
 */
const isOfOneChange = (error: unknown) => /^(2[23]...|55P03|57014|40P01|40001)$/.test(codeOf(error));

/**
 * Begins a statement that makes changes: `batch.rows` has them as JSON. An empty message in the write-ahead log makes it wait for the
 * disk whatever they are: otherwise, a known address would take less time, and a full disk would refuse new ones only. Each statement
 * brings its settings, because a pooler drops those of a session, and a role may have others.
 */
export const batchOf = (changes: object[], lockMs: number) => Prisma.sql`
  WITH batch AS MATERIALIZED (
    SELECT set_config('lock_timeout', ${String(lockMs)}, true), set_config('synchronous_commit', 'on', true),
      pg_logical_emit_message(true, 'earlyaccess', ''), ${JSON.stringify(changes)}::json AS rows)`;
