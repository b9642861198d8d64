// One short transaction of an import, repeated while another session holds a lock.
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";

/** In milliseconds. Sign-ups queue behind a lock that an import waits for, so the import gives up early and retries. */
export const lockTimeoutMs = 300;
const retryPauseMs = 100;
const retryForMs = 10_000;

/**
 * Runs the statements in one transaction and one round trip. Repeats them for 10 s if another session holds a lock.
 * @returns the number of rows that the last statement changed.
 */
export async function runTransaction(client: pg.Client, statements: string[]): Promise<number> {
  const sql = ["BEGIN", `SET LOCAL lock_timeout = ${lockTimeoutMs}`, ...statements, "COMMIT"].join(";\n");
  const deadline = performance.now() + retryForMs;
  for (;;) {
    try {
      const results = (await client.query(sql)) as unknown as pg.QueryResult[];
      return results.at(-2)?.rowCount ?? 0;
    } catch (error) {
      await client.query("ROLLBACK").catch(() => undefined); // The connection may be gone.
      const isLocked = ["55P03", "40P01"].includes((error as pg.DatabaseError).code ?? "");
      if (!isLocked || performance.now() > deadline) throw error;
      await sleep(retryPauseMs);
    }
  }
}
