// The doctor's check of the notification queue: whether sign-ups fill it and the worker empties it.
import type pg from "pg";
import { describeForeignQueue, isQueueEnabled } from "../../../database/queue.ts";
import { printable } from "../../../operator-messages.ts";
import type { Finding } from "./finding.ts";
import { migrateHint } from "../owner.ts";
import { count } from "../progress.ts";

/** In seconds. A worker that runs sends a notification within one second, unless the receiver is away. */
const longWait = 60;

export async function* examineOutbox(owner: pg.Client, wanted: boolean): AsyncGenerator<Finding> {
  const what = "Notifications";
  const enabled = await isQueueEnabled(owner);
  if (enabled === undefined) return; // examineMigrations reports it.
  const foreign = await describeForeignQueue(owner);
  if (foreign) {
    yield wanted ? { verdict: "problem", what, text: foreign } : { verdict: "ok", what, text: "none are sent" };
    return;
  }
  const { rows } = await owner.query("SELECT to_regclass('graphile_worker.jobs') IS NOT NULL AS queue");
  if (wanted && !(enabled && rows[0].queue)) {
    yield { verdict: "problem", what, text: `sign-ups add nothing to the queue. ${migrateHint}` };
    return;
  }
  if (!wanted && enabled) {
    const text = "sign-ups add notifications, but NOTIFY_WEBHOOK_URL is not set here. Set it, or migrate without it.";
    yield { verdict: "warning", what, text };
  } else if (!wanted) yield { verdict: "ok", what, text: "none are sent" };
  if (rows[0].queue) yield await examineQueue(owner, what);
}

async function examineQueue(owner: pg.Client, what: string): Promise<Finding> {
  const { rows } = await owner.query(
    `SELECT count(*) FILTER (WHERE attempts < max_attempts)::int AS waiting,
            count(*) FILTER (WHERE attempts >= max_attempts)::int AS lost,
            coalesce(extract(epoch FROM now() - min(created_at) FILTER (WHERE attempts < max_attempts)), 0)::int AS seconds,
            (array_agg(last_error ORDER BY updated_at DESC) FILTER (WHERE last_error IS NOT NULL))[1] AS error
     FROM graphile_worker.jobs`,
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
    const text = `${count(waiting)} wait, the first for ${count(seconds)} s.${why} Does the worker run? npm run notify, in the image node dist/server/notify.js.`;
    return { verdict: "warning", what, text };
  }
  return { verdict: "ok", what, text: `${count(waiting)} wait` };
}
