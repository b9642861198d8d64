// The notification worker: graphile-worker takes jobs from the queue and retries those that failed, one process at a time.
import { Logger, run, type JobHelpers, type Runner } from "graphile-worker";
import type pg from "pg";
import type { Logger as Log } from "pino";
import { connectTo } from "../database/client.ts";
import { refuseForeignQueue } from "../database/queue.ts";
import { isFlagged } from "../models/waitlist-entry.ts";
import { OperatorError } from "../operator-messages.ts";
import { notificationColumns, type Notification } from "./notification.ts";

/** @throws why it could not be sent. graphile-worker retries 25 times in about four days, after 3 s at first and 6 h at last. */
export type Send = (notification: Notification, signal: AbortSignal) => Promise<void>;

/** The key of the advisory lock of the process that sends: two would send the same notification twice. */
const senderLock = 4_155_220;
/** Few, as receivers have limits of their own; more than one, as each request that hangs takes 10 s. */
const concurrency = 4;
/** The levels of graphile-worker that are logged as warnings. */
const warningLevels = new Set<string>(["error", "warning"]);
/**
 * A receiver that fails for less time may be slow, or refuse single notifications: to retry all after each success would
 * use up their attempts.
 */
const outageMs = 10_000;
/** The receiver's timeout: a request that is under way at the end may finish. */
const gracePeriodMs = 10_000;

/**
 * Sends notifications until the signal. If another process sends, waits for its end first.
 * @throws OperatorError if there is no queue, or the connection is lost: another process may send then.
 */
export async function sendNotifications(senderUrl: string, send: Send, log: Log, signal: AbortSignal): Promise<void> {
  const holder = await connectTo(senderUrl);
  const lost = new Promise<"lost">((resolve) => holder.once("end", () => resolve("lost")));
  const stopped = new Promise<"stopped">((resolve) => signal.addEventListener("abort", () => resolve("stopped")));
  const stopWaiting = () => void holder.end();
  signal.addEventListener("abort", stopWaiting);
  try {
    signal.throwIfAborted();
    await takeOver(holder, log);
    // From here the lock is held until the jobs under way are done, as another process would send them again.
    signal.removeEventListener("abort", stopWaiting);
    const runner = await startRunner(senderUrl, send, log);
    log.info("sending notifications");
    const end = await Promise.race([runner.promise, lost, stopped]);
    if (end) await runner.stop();
    if (end === "lost") throw new OperatorError("The connection to Postgres was lost.");
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await holder.end();
  }
}

async function takeOver(holder: pg.Client, log: Log): Promise<void> {
  await refuseForeignQueue(holder);
  const { rows } = await holder.query(
    "SELECT pg_try_advisory_lock($1) AS alone, to_regnamespace('graphile_worker') IS NOT NULL AS queue",
    [senderLock],
  );
  if (!rows[0].queue) {
    throw new OperatorError("There is no queue yet. Migrate with NOTIFY_WEBHOOK_URL set: npm run migrate.");
  }
  if (!rows[0].alone) {
    log.info("another process sends notifications; waiting for its end");
    await holder.query("SET lock_timeout = 0");
    await holder.query("SELECT pg_advisory_lock($1)", [senderLock]);
  }
  // Release the jobs of a killed worker; otherwise they stay locked for four hours.
  await holder.query(
    "SELECT graphile_worker.force_unlock_workers(array_agg(DISTINCT locked_by)) FROM graphile_worker.jobs WHERE locked_by IS NOT NULL",
  );
}

function startRunner(senderUrl: string, send: Send, log: Log): Promise<Runner> {
  return run({
    connectionString: senderUrl,
    // The trigger earlyaccess_announce adds jobs of this name.
    taskList: { announce: createTask(send) },
    parsedCronItems: [],
    concurrency,
    maxPoolSize: concurrency + 1,
    noHandleSignals: true,
    gracefulShutdownAbortTimeout: gracePeriodMs,
    // Without these, the runner ends before the queue records which jobs are done and which failed.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    logger: new Logger(() => (level, message) => {
      const [sentence] = message.split(":\n"); // A stack follows.
      if (warningLevels.has(level)) log.warn(sentence);
      else log.debug(sentence);
    }),
  });
}

function createTask(send: Send) {
  let failingSince = 0; // It is unknown whether the receiver worked before the start.
  return async function announce(payload: unknown, helpers: JobHelpers): Promise<void> {
    const { rows } = await helpers.query<Notification>(
      `SELECT ${notificationColumns.join(", ")} FROM public.earlyaccess WHERE id = $1 AND NOT ${isFlagged}`,
      [(payload as { entry: string }).entry],
    );
    if (!rows[0]) return; // The address was a duplicate, the entry is flagged, or it is erased by now.
    try {
      await send(rows[0], helpers.abortSignal);
    } catch (error) {
      failingSince = Math.min(failingSince, Date.now());
      throw error;
    }
    const wasAway = Date.now() - failingSince > outageMs;
    failingSince = Infinity;
    if (!wasAway) return;
    // The receiver is back: retry the failed jobs now.
    await helpers.query(
      "SELECT graphile_worker.reschedule_jobs(array_agg(id), run_at => now()) FROM graphile_worker.jobs WHERE attempts BETWEEN 1 AND max_attempts - 1 AND locked_at IS NULL",
    );
  };
}
