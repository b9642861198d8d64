// Retries the failed jobs of a task as soon as their receiver is back after an outage.
import type { JobHelpers, Task } from "graphile-worker";
import type { WorkerTask } from "../database/roles.ts";

/**
 * A receiver that fails for less time may be slow, or refuse single notifications: retrying all jobs after each success would
 * use up their attempts.
 */
const outageMs = 10_000;

/**
 * Runs one job. graphile-worker logs and stores the message of an error: no address, no text from elsewhere.
 * @returns whether the receiver did its part; false if the job needed no receiver.
 * @throws why it failed. graphile-worker retries 25 times in about four days, after 3 s at first and 6 h at last.
 */
export type Work = (payload: unknown, helpers: JobHelpers) => Promise<boolean>;

/** @param isOutage whether the error concerns the receiver, and not only this job. */
export function retryAfterOutage(task: WorkerTask, work: Work, isOutage: (error: unknown) => boolean): Task {
  let failingSince = 0; // It is unknown whether the receiver worked before the start.
  return async (payload, helpers) => {
    let reached: boolean;
    try {
      reached = await work(payload, helpers);
    } catch (error) {
      if (isOutage(error)) failingSince = Math.min(failingSince, Date.now());
      throw error;
    }
    if (!reached) return;
    const wasUnavailable = Date.now() - failingSince > outageMs;
    failingSince = Infinity;
    if (!wasUnavailable) return;
    await helpers.query(
      `SELECT graphile_worker.reschedule_jobs(array_agg(id), run_at => now()) FROM graphile_worker.jobs
       WHERE task_identifier = $1 AND attempts BETWEEN 1 AND max_attempts - 1 AND locked_at IS NULL`,
      [task],
    );
  };
}
