// A batch of sign-ups or links: stored with one statement or, if that fails, each on its own.
import { setTimeout as sleep } from "node:timers/promises";
import { errorFields } from "../logger.ts";

export interface Pending<Entry> {
  entry: Entry;
  /** Called after the commit. */
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * In milliseconds; a failure after that is not retried. A last attempt may wait 1.5 s for a connection or 1.75 s for Postgres
 * (connect.ts), and the response must come within 5 s.
 */
export const retryForMs = 1_600;
const retryPauseMs = 50;

type Store<Entry> = (entries: Entry[]) => Promise<void>;

/**
 * Stores the batch, and settles each of its entries. If one entry may be the cause of an error, stores each on its own, so
 * that only this entry fails.
 * @param deadline by performance.now(); a later failure is not retried.
 */
export async function storeBatch<Entry>(store: Store<Entry>, batch: Pending<Entry>[], deadline: number): Promise<void> {
  try {
    await store(batch.map(({ entry }) => entry));
    for (const { resolve } of batch) resolve();
  } catch (error) {
    const canRetry = isLockError(error) || (isDataError(error) && batch.length > 1);
    if (!canRetry || performance.now() > deadline) {
      for (const { reject } of batch) reject(error);
      return;
    }
    if (batch.length === 1) await sleep(retryPauseMs);
    await Promise.all(batch.map((one) => storeBatch(store, [one], deadline)));
  }
}

/** Returns whether Postgres refused a value: classes 22 and 23. */
function isDataError(error: unknown): boolean {
  return /^2[23]/.test(errorFields(error).code ?? "");
}

/** Returns whether another transaction may hold an entry's address: a timeout of the statement or of a lock, or a deadlock. */
function isLockError(error: unknown): boolean {
  return ["57014", "55P03", "40P01"].includes(errorFields(error).code ?? "");
}
