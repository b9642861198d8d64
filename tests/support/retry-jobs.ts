// Retries all failed jobs, as docs/mail.md shows; the worker's own schedule would take minutes.

type Query = (sql: string) => Promise<unknown[]>;

/** Returns the number of jobs that are not done. */
export async function retryJobs(query: Query): Promise<number> {
  await query(
    "SELECT graphile_worker.reschedule_jobs(array_agg(id), run_at => now()) FROM graphile_worker.jobs WHERE locked_at IS NULL AND run_at > now()",
  );
  return (await query("SELECT FROM graphile_worker.jobs")).length;
}
