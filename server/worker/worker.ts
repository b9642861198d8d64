// The worker: runs the configured tasks (webhook, mail, purge) with graphile-worker, and sends mailings, in one process at a time.
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Logger, parseCrontab, run, type Runner, type TaskList } from "graphile-worker";
import pg from "pg";
import type { Logger as Log } from "pino";
import { type Config, allSettings } from "../config/settings.ts";
import { withConnection } from "../database/connect.ts";
import type { OpenedDatabase } from "../database/open-database.ts";
import type { WorkerTask } from "../config/database-urls.ts";
import { workerLock } from "../database/queue.ts";
import { errorFields, OperatorError } from "../errors.ts";
import { mailedSite } from "../mail/confirmation-mail.ts";
import { purgeCrontab, purgeTask } from "./purge.ts";
import { webhookTask } from "./webhook.ts";

/** Jobs at once: few, because receivers have limits; more than one, because a request may hang for 10 s, and a mail for five minutes. */
const concurrency = 4;

/** Docker Compose kills the worker 15 s after SIGTERM, and calls it unhealthy after a minute without a round. */
export const defaultRoundMs = 10_000;

/**
 * Runs the tasks until the signal. If another worker runs, waits for its end first.
 * @param roundMs the interval of checks of Postgres, in milliseconds; also how long the worker waits for its answer and, before
 * it ends, for the jobs in progress.
 * @throws OperatorError if no task is configured, a setting or the queue is missing, or Postgres is lost.
 */
export async function runTasks(
  { worker }: OpenedDatabase,
  config: Config,
  log: Log,
  signal: AbortSignal,
  roundMs = defaultRoundMs,
): Promise<void> {
  if (!worker) {
    throw new OperatorError(
      "The worker has no task. Set WEBHOOK_URL, MAIL_FROM or RETENTION_MONTHS as in docs/worker.md, and migrate.",
    );
  }
  const tasks: TaskList = {};
  const ending = new AbortController();
  for (const task of worker.tasks) tasks[task] = await createTask(task, config);
  const mailing = tasks.mail && (await import("./mailing.ts"));
  await withConnection(worker.url, async (holder) => {
    await takeOver(holder, log, signal, roundMs);
    if (signal.aborted) return;
    const pool = openQueuePool(worker.url, concurrency + 1, log);
    const starting = startRunner(pool, tasks, log);
    const lane = mailing?.sendMailings(pool, config, log, ending.signal);
    try {
      const runner = await starting;
      log.info(`worker started: ${worker.tasks.join(", ")}`);
      await Promise.race([runner.promise, completeRounds(holder, signal, roundMs)]);
    } finally {
      ending.abort();
      // Hold the lock until the jobs in progress are done, because another process would send them again.
      const stopped = starting.then((runner) => runner.stop()).catch(() => undefined);
      await Promise.race([Promise.all([stopped, lane]).then(() => pool.end()), sleep(roundMs)]);
    }
  }).catch(async (error: unknown) => {
    log.warn({ error: errorFields(error) }, "the worker ends");
    // When the machine stops, Postgres may end a moment before the signal arrives here.
    if (!signal.aborted) await sleep(1_000, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) throw error;
  });
}

async function createTask(task: WorkerTask, config: Config) {
  const { MAIL_FROM: from, SMTP_URL: url } = config;
  if (task === "webhook") return webhookTask({ url: config.WEBHOOK_URL ?? "", secret: config.WEBHOOK_SECRET });
  if (task === "purge") return purgeTask(config);
  if (!from || !url) {
    throw new OperatorError(
      `SMTP_URL is not set, so the worker cannot send mails. Set it, for example SMTP_URL=${allSettings.SMTP_URL.example}`,
    );
  }
  const { mailTask } = await import("./mail.ts"); // nodemailer, which the other tasks do not need.
  return mailTask({ url, from, site: mailedSite(config) });
}

/**
 * Opens the connections of graphile-worker. Its own pool drops its listeners before it closes the connections: the error of a Postgres
 * that stops at that moment would end the process.
 */
function openQueuePool(url: string, max: number, log: Log): pg.Pool {
  // As connectTo does: an overloaded function of another role must not run with this role's rights.
  const connection = new URL(url);
  connection.searchParams.set("options", "-c search_path=pg_catalog,pg_temp");
  const pool = new pg.Pool({ connectionString: connection.href, max });
  pool.on("error", (error) => log.warn({ error: errorFields(error) }, "database connection lost"));
  // While a client is in use, its statement fails.
  return pool.on("connect", (client) => client.on("error", () => undefined));
}

function startRunner(pgPool: pg.Pool, tasks: TaskList, log: Log): Promise<Runner> {
  return run({
    pgPool,
    taskList: tasks,
    parsedCronItems: tasks.purge ? parseCrontab(purgeCrontab) : [],
    concurrency,
    noHandleSignals: true,
    // Without these, the runner ends before the queue records which jobs are done and which failed.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    logger: createRunnerLogger(log),
  });
}

function createRunnerLogger(log: Log): Logger {
  return new Logger(({ taskIdentifier }) => (level: string, message) => {
    const [sentence] = message.split(":\n"); // A stack follows.
    if (level === "error" || level === "warning") log.warn(sentence);
    // The messages of a task; graphile-worker's own are many more.
    else if (taskIdentifier && level === "info") log.info(sentence);
    else log.debug(sentence);
  });
}

/** Takes the lock, and releases the jobs of a killed worker; otherwise they stay locked for four hours. */
async function takeOver(holder: pg.Client, log: Log, signal: AbortSignal, roundMs: number) {
  for (let tries = 0; !signal.aborted; tries++) {
    await completeRound(holder, roundMs);
    const { rows } = await holder.query("SELECT pg_try_advisory_lock($1) AS alone", [workerLock]);
    if (rows[0].alone) break;
    if (tries === 0) log.info("another worker runs; waiting for its end");
    await sleep(1_000, undefined, { signal }).catch(() => undefined);
  }
  if (signal.aborted) return;
  await holder.query(
    "SELECT graphile_worker.force_unlock_workers(array_agg(DISTINCT locked_by)) FROM graphile_worker.jobs WHERE locked_by IS NOT NULL",
  );
}

/** Resolves after the signal. A mail server that hangs delays no round. */
async function completeRounds(holder: pg.Client, signal: AbortSignal, roundMs: number) {
  while (!signal.aborted) {
    await completeRound(holder, roundMs);
    await sleep(roundMs, undefined, { signal }).catch(() => undefined);
  }
}

/** @throws OperatorError if Postgres does not answer in time: a restart opens a new connection. */
async function completeRound(holder: pg.Client, roundMs: number) {
  const query = { text: "SELECT FROM graphile_worker.jobs LIMIT 1", query_timeout: roundMs };
  await holder.query(query as pg.QueryConfig).catch((cause: Error) => {
    const isMissing = errorFields(cause).code === "42P01";
    const fault = `Postgres does not answer the worker: ${cause.message}`;
    throw new OperatorError(isMissing ? "There is no queue yet. Migrate with the worker's settings." : fault, {
      cause,
    });
  });
  // The health check reads the time of this file. Without the file, only the check fails.
  await writeFile(join(tmpdir(), "perennial-worker"), "").catch(() => undefined);
}
