// The doctor's check of the queue: whether sign-ups fill it and the worker empties it.
import type pg from "pg";
import { describeForeignQueue, isQueueEnabled } from "../../../database/queue.ts";
import type { WorkerTask } from "../../../database/roles/rights.ts";
import { printable } from "../../../operator-messages.ts";
import type { Finding } from "./finding.ts";
import { migrateHint } from "../owner.ts";
import { count } from "../progress.ts";

/** In seconds. A worker that runs sends within one second, unless the receiver is unavailable. */
const longWait = 60;

const workerHint = "Does the worker run? npm run worker, in the image node dist/server/worker.js.";

const queued = [
  { task: "announce", what: "Notifications", setting: "NOTIFY_WEBHOOK_URL" },
  { task: "mail", what: "Confirmation mails", setting: "MAIL_FROM" },
] as const;

/** @param wanted the tasks of the configured worker. */
export async function* examineOutbox(owner: pg.Client, wanted: WorkerTask[]): AsyncGenerator<Finding> {
  const foreign = await describeForeignQueue(owner);
  const { rows } = await owner.query("SELECT to_regclass('graphile_worker.jobs') IS NOT NULL AS there");
  const hasQueue = !foreign && (rows[0].there as boolean);
  for (const { task, what, setting } of queued) {
    const enabled = await isQueueEnabled(owner, task);
    if (enabled === undefined) return; // examineMigrations reports it.
    const isWanted = wanted.includes(task);
    if (isWanted && foreign) yield { verdict: "problem", what, text: foreign };
    else if (isWanted && !(enabled && hasQueue)) {
      yield { verdict: "problem", what, text: `sign-ups add nothing to the queue. ${migrateHint}` };
    } else if (!isWanted && enabled && !foreign) {
      const text = `sign-ups add jobs to the queue, but ${setting} is not set here. Set it, or migrate without it.`;
      yield { verdict: "warning", what, text };
    } else if (!isWanted) yield { verdict: "ok", what, text: "none are sent" };
    if (hasQueue && (isWanted || enabled)) yield await examineJobs(owner, task, what);
  }
  if (hasQueue && wanted.includes("purge")) yield await examinePurge(owner);
}

async function examineJobs(owner: pg.Client, task: WorkerTask, what: string): Promise<Finding> {
  // A mail may have to wait until the next day; it does so without an attempt.
  const { rows } = await owner.query(
    `SELECT count(*) FILTER (WHERE attempts < max_attempts)::int AS waiting,
            count(*) FILTER (WHERE attempts >= max_attempts)::int AS lost,
            coalesce(extract(epoch FROM now() - min(created_at)
              FILTER (WHERE attempts < max_attempts AND (attempts > 0 OR run_at <= now()))), 0)::int AS seconds,
            (array_agg(last_error ORDER BY updated_at DESC) FILTER (WHERE last_error IS NOT NULL))[1] AS error
     FROM graphile_worker.jobs WHERE task_identifier = $1`,
    [task],
  );
  const { waiting, lost, seconds, error } = rows[0] as {
    waiting: number;
    lost: number;
    seconds: number;
    error?: string;
  };
  const why = error ? ` The latest fault: ${printable(error)}.` : "";
  if (lost > 0) {
    const text = `${count(lost)} were given up after 25 attempts.${why} Delete them: DELETE FROM graphile_worker._private_jobs WHERE attempts >= max_attempts`;
    return { verdict: "warning", what, text };
  }
  if (seconds > longWait) {
    const text = `${count(waiting)} wait, the first for ${count(seconds)} s.${why} ${workerHint}`;
    return { verdict: "warning", what, text };
  }
  return { verdict: "ok", what, text: `${count(waiting)} wait${task === "mail" ? await countRefusals(owner) : ""}` };
}

async function countRefusals(owner: pg.Client): Promise<string> {
  const { rows } = await owner.query(
    "SELECT count(*)::int AS refused FROM public.earlyaccess WHERE mail_refusal IS NOT NULL",
  );
  const refused = rows[0].refused as number;
  return refused > 0 ? `; the mail server refused ${count(refused)} permanently, see the column mail_refusal` : "";
}

async function examinePurge(owner: pg.Client): Promise<Finding> {
  const what = "Deletion of old entries";
  const { rows } = await owner.query<{ late: boolean }>(
    `SELECT coalesce(last_execution, known_since) < now() - interval '2 days' AS late
     FROM graphile_worker._private_known_crontabs WHERE identifier = 'purge'`,
  );
  if (rows[0] && !rows[0].late) return { verdict: "ok", what, text: "once a day" };
  const when = rows[0] ? "did not run on the last two days" : "has never run";
  return { verdict: "warning", what, text: `${when}. ${workerHint}` };
}
