// npm run worker: sends notifications and mails, and deletes old entries, until it is stopped; in the image node dist/server/worker.js.
import type { Task, TaskList } from "graphile-worker";
import { settings, type Config } from "../config.ts";
import type { WorkerTask } from "../database/roles.ts";
import { createLogger } from "../logger.ts";
import { OperatorError } from "../operator-messages.ts";
import { announceTask } from "../outbox/announce.ts";
import { purgeTask } from "../outbox/purge.ts";
import { runWorker } from "../outbox/worker.ts";
import { runCommand } from "./command.ts";

await runCommand(async (database, config) => {
  const { worker, erasureKey: key } = database;
  if (!worker) {
    const examples = [["NOTIFY_WEBHOOK_URL"], ["MAIL_FROM", "SMTP_URL"], ["RETENTION_MONTHS"]] as const;
    const list = examples.map((names) => names.map((name) => `${name}=${settings[name].example}`).join(" and "));
    throw new OperatorError(
      `The worker has no task. Set one of these, for example ${list.join(", or ")}; and migrate. Mails also need ERASURE_KEY and PUBLIC_URL.`,
    );
  }
  const tasks: TaskList = {};
  for (const task of worker.tasks) tasks[task] = await createTask(task, config, key);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  await runWorker({ url: worker.url, tasks, key }, createLogger(config.logLevel), stop.signal);
});

async function createTask(task: WorkerTask, config: Config, key: string | undefined): Promise<Task> {
  const { notifyWebhookUrl: url = "", notifyWebhookSecret: secret, retentionMonths } = config;
  if (task === "announce") return announceTask({ url, secret });
  return task === "purge" ? purgeTask(retentionMonths, key) : createMailTask(config, key);
}

async function createMailTask(config: Config, key = ""): Promise<Task> {
  const { publicUrl: origin = "", mailFrom: from, smtpUrl, controller, contactEmail: contact } = config;
  if (!from || !smtpUrl) {
    throw new OperatorError(
      `SMTP_URL is not set, so the worker cannot send mails. Set it, for example SMTP_URL=${settings.SMTP_URL.example}`,
    );
  }
  const { mailTask } = await import("../outbox/mail.ts"); // React and nodemailer, which the other tasks do not need.
  return mailTask({ url: smtpUrl, from, key, site: { origin, controller, contact } });
}
