// The worker's Prometheus metrics. Imported only if WORKER_METRICS_PORT is set.
import type pg from "pg";
import { Counter, Gauge, Registry } from "prom-client";
import { serveMetrics } from "../metrics.ts";

export type CountMail = (outcome: "sent" | "refused") => void;

export function createWorkerMetrics() {
  const registry = new Registry();
  const mails = new Counter({
    name: "perennial_mails_total",
    help: "Confirmation mails since the start: accepted by the mail server, or refused permanently.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // From the start: rate() misses the first event of a series that begins with it.
  for (const outcome of ["sent", "refused"]) mails.inc({ outcome }, 0);
  const onMail: CountMail = (outcome) => mails.inc({ outcome });
  return {
    onMail,
    /** Serves GET /metrics until the process ends; reads the queue over the connection at each scrape. */
    serve: async (client: pg.Client, host: string, port: number) => {
      addGauges(registry, client);
      await serveMetrics(registry, host, port, "WORKER_METRICS_PORT");
    },
  };
}

function addGauges(registry: Registry, client: pg.Client): void {
  const addGauge = (name: string, help: string, sql: string) => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [registry],
      collect: async () => gauge.set((await client.query(`SELECT (${sql})::float AS value`)).rows[0].value ?? NaN),
    });
  };
  addGauge(
    "perennial_oldest_job_seconds",
    "Age of the oldest job that is due or has failed; 0 if there is none.",
    `SELECT coalesce(extract(epoch FROM now() - min(CASE WHEN attempts = 0 THEN run_at ELSE created_at END)), 0)
     FROM graphile_worker.jobs WHERE attempts < max_attempts AND (attempts > 0 OR run_at <= now())`,
  );
  addGauge(
    "perennial_failed_jobs",
    "Jobs that were given up after 25 attempts.",
    "SELECT count(*) FROM graphile_worker.jobs WHERE attempts >= max_attempts",
  );
  addGauge(
    "perennial_backup_age_seconds",
    "Seconds since the last backup that passed its test; NaN if there is none.",
    "SELECT extract(epoch FROM now() - max(finished_at)) FROM public.earlyaccess_backups",
  );
}
