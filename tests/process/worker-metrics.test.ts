// The worker's metrics, read from a real worker.
import { expect, it } from "vitest";
import { freePort } from "../../server/http/listen.ts";
import { createMailFixture } from "../support/mail-fixture.ts";
import { readExposition } from "../support/metrics.ts";

const fixture = createMailFixture();

it("counts mails, and shows the oldest job, jobs that were given up, and the age of the last backup", async () => {
  const port = await freePort();
  await fixture.startWorker({ WORKER_METRICS_PORT: String(port) });
  const metrics = async () => readExposition(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  expect(Object.fromEntries(await metrics())).toEqual({
    'perennial_mails_total{outcome="sent"}': 0,
    'perennial_mails_total{outcome="refused"}': 0,
    "perennial_oldest_job_seconds{}": 0,
    "perennial_failed_jobs{}": 0,
    "perennial_backup_age_seconds{}": NaN,
  });
  expect(await fixture.signUp("ada@example.com")).toBe(201);
  await fixture.mailed(1);
  fixture.server.fail("recipient", "550 5.1.1 unknown");
  expect(await fixture.signUp("bob@example.com")).toBe(201);
  await fixture.emptied();
  await fixture.database.query(
    `SELECT graphile_worker.add_job('mail', run_at => now() + interval '1 day', job_key => 'tomorrow');
     SELECT graphile_worker.add_job('unknown', run_at => now() - interval '1 hour');
     SELECT graphile_worker.add_job('unknown', job_key => 'failed');
     UPDATE graphile_worker._private_jobs SET attempts = max_attempts WHERE key = 'failed';
     INSERT INTO earlyaccess_backups (finished_at, entries) VALUES (now() - interval '3 hours', 1)`,
  );
  const found = await metrics();
  expect(found.get('perennial_mails_total{outcome="sent"}')).toBe(1);
  expect(found.get('perennial_mails_total{outcome="refused"}')).toBe(1);
  expect(found.get("perennial_failed_jobs{}")).toBe(1);
  expect(Math.round((found.get("perennial_oldest_job_seconds{}") ?? 0) / 3_600)).toBe(1);
  expect(Math.round((found.get("perennial_backup_age_seconds{}") ?? 0) / 3_600)).toBe(3);
});
