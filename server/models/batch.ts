// Batches of the changes that visitors request: one statement at a time, with all changes that arrived during the previous one.
import { setTimeout as sleep } from "node:timers/promises";
import { Prisma } from "../database/generated/client.ts";
import { timeLimits } from "../database/pool.ts";
import { errorFields, UnavailableError, within } from "../errors.ts";

/** Changes per statement. */
const batchSize = 200;
/** Statements at once of changes that go alone: sign-ups and links have a batch each, and share ten connections. */
const statementsAlone = 4;

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
 */
export function createBatch<Change, Result>(store: (changes: Change[], lockMs: number) => Promise<Result[]>) {
  type Batch = Pending<Change, Result>[];

  async function attempt(batch: Batch, lockMs: number, fail: (failed: Batch, error: unknown) => void) {
    const pending = batch.filter(({ deadline }) => performance.now() < deadline); // The others have been refused.
    try {
      const results =
        pending.length > 0
          ? await store(
              Array.from(pending, ({ change }) => change),
              lockMs,
            )
          : [];
      pending.forEach(({ resolve }, i) => resolve(results[i] as Result));
    } catch (error) {
      fail(pending, error);
    }
  }

  const reject = (batch: Batch, error: unknown) => batch.forEach((pending) => pending.reject(error));
  const alone = createQueue<Batch[number]>(1, statementsAlone, (batch) => attempt(batch, timeLimits.lockAlone, reject));
  const together = createQueue<Batch[number]>(batchSize, 1, (batch) =>
    attempt(batch, timeLimits.lock, (failed, error) => (isOfOneChange(error) ? alone : reject)(failed, error)),
  );

  return async (change: Change): Promise<Result> => {
    const floor = sleep(timeLimits.floor);
    const deadline = performance.now() + timeLimits.change;
    const result = new Promise<Result>((resolve, refuse) => together([{ change, deadline, resolve, reject: refuse }]));
    try {
      return await within(timeLimits.change, result);
    } catch (cause) {
      // Long enough for a database to restart, short enough for a visitor to wait.
      throw new UnavailableError("The waitlist can't be changed right now. Please try again.", 15, cause);
    } finally {
      await floor;
    }
  };
}

/** Returns a function that adds items to a queue, from which `run` takes up to `size` at a time, in up to `runs` runs at once. */
function createQueue<Item>(size: number, runs: number, run: (items: Item[]) => Promise<void>) {
  const queue: Item[] = [];
  let running = 0;

  async function work() {
    while (queue.length > 0) await run(queue.splice(0, size));
    running--;
  }

  return (items: Item[]) => {
    queue.push(...items);
    for (; running < Math.min(runs, queue.length); running++) setImmediate(work);
  };
}

/**
 * Returns whether one change may have caused the error: Postgres refused a value (the classes 22 and 23), or another transaction holds
 * its entry (a lock, statement or serialization failure, or a deadlock).
 */
function isOfOneChange(error: unknown): boolean {
  return /^(2[23]...|55P03|57014|40P01|40001)$/.test(errorFields(error).code ?? "");
}

/**
 * Begins a statement that makes changes: `batch.rows` has them as JSON. An empty message in the write-ahead log makes it wait for the
 * disk whatever they are: otherwise, a known address would take less time, and a full disk would refuse new ones only. Each statement
 * brings its settings, because a pooler drops those of a session, and a role may have others.
 */
export const batchOf = (changes: object[], lockMs: number) => Prisma.sql`
  WITH batch AS MATERIALIZED (
    SELECT set_config('lock_timeout', ${String(lockMs)}, true), set_config('synchronous_commit', 'on', true),
      pg_logical_emit_message(true, 'earlyaccess', ''), ${JSON.stringify(changes)}::json AS rows)`;
