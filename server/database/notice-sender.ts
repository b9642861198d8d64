// Sends what is in the outbox: graphile-worker takes the jobs, one process at a time, and tries again what failed.
import { Logger, run, type JobHelpers, type Runner } from "graphile-worker";
import type pg from "pg";
import type { Logger as Log } from "pino";
import { noticeColumns, type Notice } from "../models/notice.ts";
import { isFlagged } from "../models/waitlist-entry.ts";
import { OperatorError } from "../operator-error.ts";
import { connectTo } from "./migrate.ts";
import { refuseForeignQueue } from "./outbox.ts";

/** @throws what kept it from being told; it is then tried again, after 3 s at first and 6 h at last, for about four days. */
export type Tell = (notice: Notice, signal: AbortSignal) => Promise<void>;

/** Held by the process that sends, for as long as it runs: no two tell of the same entry. */
const senderLock = 4_155_220;
/** Few, as receivers have limits of their own; more than one, as each that hangs takes 10 s. */
const concurrency = 4;
/** Of graphile-worker's levels; the others are of use to who looks for a fault. */
const serious = new Set<string>(["error", "warning"]);
/**
 * In milliseconds. A receiver that fails for less may take notices slowly, or not every one: to ask again at each success
 * would use up all attempts.
 */
const outage = 10_000;
/** In milliseconds: what is under way at the end gets as long as a receiver has to answer. */
const gracePeriod = 10_000;

/**
 * Sends until the signal; where another process does already, waits for its end first.
 * @throws OperatorError without an outbox, and where the connection is lost: somebody else may send then.
 */
export async function sendNotices(senderUrl: string, tell: Tell, log: Log, signal: AbortSignal): Promise<void> {
  const holder = await connectTo(senderUrl);
  const lost = new Promise<"lost">((resolve) => holder.once("end", () => resolve("lost")));
  const stopped = new Promise<"stopped">((resolve) => signal.addEventListener("abort", () => resolve("stopped")));
  const stopWaiting = () => void holder.end();
  signal.addEventListener("abort", stopWaiting);
  try {
    signal.throwIfAborted();
    await takeOver(holder, log);
    // Another process would send what is under way again: the lock is held until that is done.
    signal.removeEventListener("abort", stopWaiting);
    const runner = await startRunner(senderUrl, tell, log);
    log.info("sending notices");
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
    "SELECT pg_try_advisory_lock($1) AS alone, to_regnamespace('graphile_worker') IS NOT NULL AS outbox",
    [senderLock],
  );
  if (!rows[0].outbox) {
    throw new OperatorError("There is no outbox yet. Migrate with NOTIFY_WEBHOOK_URL set: npm run migrate.");
  }
  if (!rows[0].alone) {
    log.info("another process sends notices; waiting for its end");
    await holder.query("SET lock_timeout = 0");
    await holder.query("SELECT pg_advisory_lock($1)", [senderLock]);
  }
  // The jobs of one that was killed would wait for four hours.
  await holder.query(
    "SELECT graphile_worker.force_unlock_workers(array_agg(DISTINCT locked_by)) FROM graphile_worker.jobs WHERE locked_by IS NOT NULL",
  );
}

async function startRunner(senderUrl: string, tell: Tell, log: Log): Promise<Runner> {
  let failingSince = 0; // Nobody knows what was before the start.
  async function announce(payload: unknown, helpers: JobHelpers) {
    const { rows } = await helpers.query<Notice>(
      `SELECT ${noticeColumns.join(", ")} FROM public.earlyaccess WHERE id = $1 AND NOT ${isFlagged}`,
      [(payload as { entry: string }).entry],
    );
    if (!rows[0]) return; // The address was known, the entry is flagged, or it is erased by now.
    try {
      await tell(rows[0], helpers.abortSignal);
    } catch (error) {
      failingSince = Math.min(failingSince, Date.now());
      throw error;
    }
    const wasAway = Date.now() - failingSince > outage;
    failingSince = Infinity;
    if (!wasAway) return;
    // The receiver is back: the others need not wait any longer.
    await helpers.query(
      "SELECT graphile_worker.reschedule_jobs(array_agg(id), run_at => now()) FROM graphile_worker.jobs WHERE attempts BETWEEN 1 AND max_attempts - 1 AND locked_at IS NULL",
    );
  }
  return run({
    connectionString: senderUrl,
    taskList: { announce },
    parsedCronItems: [],
    concurrency,
    maxPoolSize: concurrency + 1,
    noHandleSignals: true,
    gracefulShutdownAbortTimeout: gracePeriod,
    // Without these, its end does not wait until the queue knows what was confirmed and what failed.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    logger: new Logger(() => (level, message) => {
      const [sentence] = message.split(":\n"); // A stack follows.
      if (serious.has(level)) log.warn(sentence);
      else log.debug(sentence);
    }),
  });
}
