// The worker: graphile-worker takes jobs from the queue and retries those that failed, one process at a time.
import { Logger, parseCrontab, run, type Runner, type TaskList } from "graphile-worker";
import type pg from "pg";
import type { Logger as Log } from "pino";
import { withConnection } from "../database/connect.ts";
import { requireErasureKey } from "../database/erasures.ts";
import { refuseForeignQueue } from "../database/queue.ts";
import { OperatorError } from "../operator-messages.ts";
import { purgeCrontab } from "./purge.ts";

export interface Assignment {
  /** The connection of the worker's role. */
  url: string;
  /** By the name that their jobs have in the queue. */
  tasks: TaskList;
  /** The key of the erased addresses, which the tasks mail and purge use. */
  key?: string | undefined;
}

/** What each task does, for the log. */
const descriptions: Record<string, string> = {
  announce: "webhook notifications",
  mail: "confirmation mails",
  purge: "daily deletion of old entries",
};

/** The key of the advisory lock of the process that works: two would send the same notification twice. */
const workerLock = 4_155_220;
/** Few, as receivers have limits of their own; more than one, as each request that hangs takes 10 s, and each mail 30 s. */
const concurrency = 4;
/** The levels of graphile-worker that are logged as warnings. */
const warningLevels = new Set(["error", "warning"]);
/** The webhook's timeout. A mail that takes longer ends with an unknown outcome. Docker Compose kills the worker after 15 s. */
const gracePeriodMs = 10_000;

/**
 * Works until the signal. If another worker runs, waits for its end first.
 * @throws OperatorError if there is no queue, the key is another one, or the connection is lost: another worker may run then.
 */
export async function runWorker(assignment: Assignment, log: Log, signal: AbortSignal): Promise<void> {
  await withConnection(assignment.url, (holder) => work(holder, assignment, log, signal));
}

async function work(holder: pg.Client, assignment: Assignment, log: Log, signal: AbortSignal): Promise<void> {
  const lost = new Promise<"lost">((resolve) => holder.once("end", () => resolve("lost")));
  const stopped = new Promise<"stopped">((resolve) => signal.addEventListener("abort", () => resolve("stopped")));
  const stopWaiting = () => void holder.end();
  signal.addEventListener("abort", stopWaiting);
  try {
    signal.throwIfAborted();
    await checkDatabase(holder, assignment);
    await takeOver(holder, log);
    // From here the lock is held until the jobs under way are done, as another process would send them again.
    signal.removeEventListener("abort", stopWaiting);
    const runner = await startRunner(assignment, log);
    const tasks = Object.keys(assignment.tasks).map((task) => descriptions[task]);
    log.info(`worker started: ${tasks.join(", ")}`);
    const end = await Promise.race([runner.promise, lost, stopped]);
    if (end) await runner.stop();
    if (end === "lost") throw new OperatorError("The connection to Postgres was lost.");
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function checkDatabase(holder: pg.Client, { tasks, key }: Assignment): Promise<void> {
  await refuseForeignQueue(holder);
  const { rows } = await holder.query("SELECT to_regnamespace('graphile_worker') IS NOT NULL AS queue");
  if (!rows[0].queue) {
    throw new OperatorError("There is no queue yet. Migrate with the worker's settings: npm run migrate.");
  }
  if (tasks.mail || tasks.purge) await requireErasureKey(holder, key);
}

async function takeOver(holder: pg.Client, log: Log): Promise<void> {
  const { rows } = await holder.query("SELECT pg_try_advisory_lock($1) AS alone", [workerLock]);
  if (!rows[0].alone) {
    log.info("another worker runs; waiting for its end");
    await holder.query("SET lock_timeout = 0");
    await holder.query("SELECT pg_advisory_lock($1)", [workerLock]);
  }
  // Release the jobs of a killed worker; otherwise they stay locked for four hours.
  await holder.query(
    "SELECT graphile_worker.force_unlock_workers(array_agg(DISTINCT locked_by)) FROM graphile_worker.jobs WHERE locked_by IS NOT NULL",
  );
}

function startRunner({ url, tasks }: Assignment, log: Log): Promise<Runner> {
  // As connectTo does: an overloaded function of another role must not run with this role's rights.
  const connection = new URL(url);
  connection.searchParams.set("options", "-c search_path=pg_catalog,pg_temp");
  return run({
    connectionString: connection.href,
    maxPoolSize: concurrency + 1,
    taskList: tasks,
    parsedCronItems: tasks.purge ? parseCrontab(purgeCrontab) : [],
    concurrency,
    noHandleSignals: true,
    gracefulShutdownAbortTimeout: gracePeriodMs,
    // Without these, the runner ends before the queue records which jobs are done and which failed.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    logger: new Logger(({ taskIdentifier }) => (level: string, message) => {
      const [sentence] = message.split(":\n"); // A stack follows.
      if (warningLevels.has(level)) log.warn(sentence);
      // What a task says; graphile-worker itself says much more.
      else if (taskIdentifier && level === "info") log.info(sentence);
      else log.debug(sentence);
    }),
  });
}
