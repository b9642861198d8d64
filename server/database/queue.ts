// The queue of graphile-worker, which a trigger fills in the transaction of each sign-up.
import type pg from "pg";
import type { DatabaseSettings, WorkerTask } from "../config/database-urls.ts";

/** Creates or updates the queue's schema, on a connection of its own. */
export async function createQueue(ownerUrl: string): Promise<void> {
  const { Logger, runMigrations } = await import("graphile-worker"); // Half a megabyte that most sites do not need.
  await runMigrations({ connectionString: ownerUrl, logger: new Logger(() => () => undefined) });
}

/** The triggers that add the jobs of a task. The migration leaves them disabled. */
const queueTriggers: Partial<Record<WorkerTask, string[]>> = {
  webhook: ["earlyaccess_webhook", "earlyaccess_webhook_confirmed"],
  mail: ["earlyaccess_send_mail"],
};

/** Enables the triggers of the worker's tasks, and disables the others, so that no jobs pile up. */
export async function enableQueue(owner: pg.Client, worker: DatabaseSettings["worker"]): Promise<void> {
  for (const [task, triggers] of Object.entries(queueTriggers) as [WorkerTask, string[]][]) {
    const wanted = worker?.tasks.includes(task) ?? false;
    // ALTER TABLE waits for sign-ups in progress, and others wait for it, so it runs only for a change.
    if ((await isQueueEnabled(owner, task)) === wanted) continue;
    const change = wanted ? "ENABLE" : "DISABLE";
    for (const trigger of triggers) await owner.query(`ALTER TABLE public.earlyaccess ${change} TRIGGER ${trigger}`);
  }
}

/** Returns whether sign-ups add jobs of the task to the queue. */
export async function isQueueEnabled(owner: pg.Client, task: WorkerTask): Promise<boolean> {
  const { rows } = await owner.query(
    "SELECT bool_and(tgenabled <> 'D') AS enabled FROM pg_trigger WHERE tgrelid = to_regclass('public.earlyaccess') AND tgname = ANY ($1)",
    [queueTriggers[task]],
  );
  return rows[0].enabled === true;
}

/** Advisory lock: only one worker runs at a time. Two would release each other's jobs, and send them twice. */
export const workerLock = 4_155_220;

/** Returns the role of the worker that holds the lock, or undefined if none runs. */
export async function findWorker(owner: pg.Client): Promise<string | undefined> {
  const { rows } = await owner.query<{ role: string }>(
    "SELECT usename AS role FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE objid = $1 AND datname = current_database()",
    [workerLock],
  );
  return rows[0]?.role;
}
