// The worker's Prometheus metrics. Imported only if WORKER_METRICS_PORT is set.
import type pg from "pg";
import { Counter, Registry } from "prom-client";
import { backlogSeconds } from "../database/queue.ts";
import { confirmedShare } from "../models/list/mails.ts";
import { addGauge, serveMetrics } from "../metrics.ts";

export type CountMail = (outcome: "sent" | "refused") => void;

export function createWorkerMetrics() {
  const registry = new Registry();
  const mails = new Counter({
    name: "perennial_mails_total",
    help: "Confirmation mails since the start: accepted by the mail server, or refused permanently.",
    labelNames: ["outcome"],
    registers: [registry],
  });
  // Start each series at 0: rate() misses an event that begins a series.
  for (const outcome of ["sent", "refused"]) mails.inc({ outcome }, 0);
  const onMail: CountMail = (outcome) => mails.inc({ outcome });
  return {
    onMail,
    /** Serves GET /metrics until the process ends; reads the queue over the connection at each scrape. */
    serve: (client: pg.Client, host: string, port: number, minConfirmed: number | undefined) => {
      addGauges(registry, client, minConfirmed);
      return serveMetrics(registry, host, port, "WORKER_METRICS_PORT");
    },
  };
}

/** One statement for a scrape: a connection runs one at a time. @param minConfirmed undefined if the worker may not read the mails. */
const figures = (minConfirmed: number | undefined) => `SELECT ${backlogSeconds} AS perennial_backlog_seconds,
  count(*) FILTER (WHERE attempts >= max_attempts)::float AS perennial_failed_jobs,
  (SELECT coalesce(extract(epoch FROM now() - max(finished_at)), 'NaN')
   FROM public.earlyaccess_backups)::float AS perennial_backup_age_seconds,
  (${minConfirmed === undefined ? "'NaN'" : confirmedShare})::float AS perennial_mails_confirmed_ratio,
  ${(minConfirmed ?? 0) / 100}::float AS perennial_mails_confirmed_ratio_min
  FROM graphile_worker.jobs`;

function addGauges(registry: Registry, client: pg.Client, minConfirmed: number | undefined) {
  let reading: Promise<Record<string, number>> | undefined;
  const read = () =>
    (reading ??= client
      .query<Record<string, number>>(figures(minConfirmed))
      .then(({ rows }) => rows[0] as Record<string, number>)
      .finally(() => (reading = undefined)));
  const add = (name: string, help: string) =>
    addGauge(registry, name, help, async () => (await read())[name] as number);
  add("perennial_backlog_seconds", "Age of the oldest job without an attempt, or of the third oldest that failed.");
  add("perennial_failed_jobs", "Jobs that were given up after 25 attempts.");
  add("perennial_backup_age_seconds", "Seconds since the last backup that passed its test; NaN if there is none.");
  add("perennial_mails_confirmed_ratio", "Confirmed share of the latest 100 mails; NaN below 40 mails.");
  add("perennial_mails_confirmed_ratio_min", "MAIL_MIN_CONFIRMED, with which the alert compares the ratio.");
}
