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
  // Other installations back up in their own way.
  if (!rows[0]) return yield { verdict: "ok", what, text: "none by the profile backup" };
  const { hours, entries } = rows[0];
  const text = `the last good one is ${count(hours)} h old (entries: ${count(entries)})`;
  if (hours < hoursAtMost) return yield { verdict: "ok", what, text };
  yield { verdict: "warning", what, text: `${text}. See what failed: docker compose logs backup` };
}
