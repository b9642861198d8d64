// The doctor's check of backups: the age of the last one of the Compose profile backup.
import type pg from "pg";
import type { Finding } from "./finding.ts";
import { count } from "../progress.ts";

/** One backup a day, and time to retry. */
const hoursAtMost = 48;

/** Reports nothing if the table is missing, which examineMigrations reports. */
export async function* examineBackups(owner: pg.Client): AsyncGenerator<Finding> {
  const what = "Backups";
  const { rows: tables } = await owner.query("SELECT to_regclass('public.earlyaccess_backups') IS NOT NULL AS there");
  if (!tables[0].there) return;
  const { rows } = await owner.query<{ hours: number; entries: number }>(
    `SELECT floor(extract(epoch FROM now() - finished_at) / 3600)::int AS hours, entries
     FROM public.earlyaccess_backups ORDER BY finished_at DESC LIMIT 1`,
  );
  yield { what, ...describe(rows[0]) };
}

function describe(last: { hours: number; entries: number } | undefined): Omit<Finding, "what"> {
  // Other installations back up in their own way.
  if (!last) return { verdict: "ok", text: "none by the Compose profile backup" };
  const text = `the last good one is ${count(last.hours)} h old (entries: ${count(last.entries)})`;
  if (last.hours < hoursAtMost) return { verdict: "ok", text };
  return { verdict: "warning", text: `${text}. See what failed: docker compose logs backup` };
}
