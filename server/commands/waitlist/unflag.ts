// waitlist unflag: clears the flag of a busy day, and sends the mails that it held back.
import type pg from "pg";
import { isQueueEnabled } from "../../database/queue.ts";
import { UsageError } from "../command.ts";
import { countEntries, print } from "../print.ts";
import type { Command } from "./command.ts";
import { periodOptions, readPeriod } from "./moment.ts";
import { withOwner } from "./owner.ts";

/** Short transactions: a sign-up of an address waits for the transaction that changes its entry. */
const batchSize = 200;

export const unflag: Command = {
  summary: "clears the flag unusual_volume, and queues the confirmation mails that it held back",
  details: [
    "For the day on which more people signed up than SIGNUP_HOURLY_CEILING. Other flags stay. With confirmation mails, the",
    "worker then sends each of these people who waits one; imported entries and those with another flag get none. A second run finds nothing to do.",
  ].join("\n"),
  positionals: [],
  options: {
    since: periodOptions.since,
    until: periodOptions.until,
    "dry-run": { description: "print the number of entries, and change nothing" },
  },
  run: async ({ value, has }) => {
    if (value("since") === undefined) throw new UsageError("unflag needs --since DATE. See: waitlist unflag --help");
    const flagged = `unusual_volume AND ${readPeriod(value)}`;
    await withOwner(async (client) => {
      if (has("dry-run")) {
        const { rows } = await client.query(`SELECT count(*)::int AS found FROM public.earlyaccess WHERE ${flagged}`);
        print(`Would clear the flag of ${countEntries(rows[0].found as number)}.\n`);
        return;
      }
      const { cleared, queued } = await clear(client, flagged);
      print(`Cleared the flag of ${countEntries(cleared)}. Mails queued: ${queued}.\n`);
    });
  },
};

async function clear(client: pg.Client, flagged: string): Promise<{ cleared: number; queued: number }> {
  const total = { cleared: 0, queued: 0 };
  const job = (await isQueueEnabled(client, "mail"))
    ? "graphile_worker.add_job('mail', json_build_object('entry', id), job_key => 'mail ' || id)"
    : "NULL";
  for (;;) {
    const { rows } = await client.query<{ cleared: number; queued: number }>(
      `WITH cleared AS (
         UPDATE public.earlyaccess SET unusual_volume = false
         WHERE id IN (SELECT id FROM public.earlyaccess WHERE ${flagged} LIMIT ${batchSize})
         RETURNING id, status = 'waiting' AND NOT (suspected_spam OR disposable_email OR imported) AS is_mailed)
       SELECT count(*)::int AS cleared, count(CASE WHEN is_mailed THEN (${job}) END)::int AS queued FROM cleared`,
    );
    const { cleared = 0, queued = 0 } = rows[0] ?? {};
    if (cleared === 0) return total;
    total.cleared += cleared;
    total.queued += queued;
  }
}
