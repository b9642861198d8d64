// npm run worker: sends webhooks and mails, and deletes old entries, until it is stopped; in the image node dist/server/worker.js.
import type { Task, TaskList } from "graphile-worker";
import type pg from "pg";
import { settings, type Config } from "../config.ts";
import { withConnection, withDatabase, type OpenedDatabase } from "../database/connect.ts";
import type { WorkerTask } from "../database/roles.ts";
import { createLogger } from "../logger.ts";
import { eraseAgain, purgeOld } from "../models/erasures.ts";
import { explain, OperatorError } from "../operator-messages.ts";
import type { CountMail } from "./metrics.ts";
import { webhookTask } from "./webhook.ts";
import { runWorker } from "./worker.ts";

try {
  await withDatabase(work);
} catch (error) {
  process.stderr.write(explain(error));
  process.exitCode = 1;
}
process.exit();

async function work({ worker, erasureKey: key }: OpenedDatabase, config: Config): Promise<void> {
  if (!worker) {
    const examples = [["WEBHOOK_URL"], ["MAIL_FROM", "SMTP_URL"], ["RETENTION_MONTHS"]] as const;
    const list = examples.map((names) => names.map((name) => `${name}=${settings[name].example}`).join(" and "));
    throw new OperatorError(
      `The worker has no task. Set one of these, for example ${list.join(", or ")}; and migrate. Mails also need ERASURE_KEY and PUBLIC_URL.`,
    );
  }
  const port = config.workerMetricsPort;
  const metrics = port ? (await import("./metrics.ts")).createWorkerMetrics() : undefined;
  const tasks: TaskList = {};
  for (const task of worker.tasks) tasks[task] = await createTask(task, config, key, metrics?.onMail);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  await withConnection(worker.url, async (holder: pg.Client) => {
    if (port) await metrics?.serve(holder, config.host, port);
    await runWorker(holder, { url: worker.url, tasks, key }, createLogger(config.logLevel), stop.signal);
  });
}

async function createTask(
  task: WorkerTask,
  config: Config,
  key: string | undefined,
  onMail?: CountMail,
): Promise<Task> {
  const { webhookUrl: url = "", webhookSecret: secret, retentionMonths } = config;
  if (task === "webhook") return webhookTask({ url, secret });
  return task === "purge" ? purgeTask(retentionMonths, key) : createMailTask(config, key, onMail);
}

async function createMailTask(config: Config, key = "", onMail: CountMail = () => undefined): Promise<Task> {
  const { publicUrl: origin = "", mailFrom: from, smtpUrl: url, controller, contactEmail: contact } = config;
  if (!from || !url) {
    throw new OperatorError(
      `SMTP_URL is not set, so the worker cannot send mails. Set it, for example SMTP_URL=${settings.SMTP_URL.example}`,
    );
  }
  const { mailTask } = await import("./mail.ts"); // React and nodemailer, which the other tasks do not need.
  return mailTask({ url, from, key, site: { origin, controller, contact }, onMail });
}

/**
 * The task purge: deletes entries after the retention period, once a day, and what a restore with Postgres' own tools brought back.
 * @param key keeps the hashes of the deleted addresses; undefined keeps none.
 */
function purgeTask(months: number, key: string | undefined): Task {
  return async (_payload, helpers) => {
    const again = key ? await eraseAgain(helpers, key) : 0;
    const old = await purgeOld(helpers, months, key);
    helpers.logger.info(`deleted entries older than ${months} months: ${old}, of erased addresses: ${again}`);
  };
}
