// waitlist unflag: clears the flag of a busy day, and sends the mails that it held back.
import { Command } from "commander";
import type pg from "pg";
import { isQueueEnabled } from "../../database/queue.ts";
import { isAnnouncedSql } from "../../models/operators/mail-state.ts";
import { countEntries, print, withOwner } from "../command.ts";
import { periodSql, sinceOption, untilOption, type Period } from "./moment.ts";

export const unflag = new Command("unflag")
  .summary("clears the flag unusual_volume, and queues the confirmation mails that it held back")
  .description(
    "For the day on which more people signed up than SIGNUP_HOURLY_CEILING. Other flags stay. If the site sends " +
      "confirmation mails, each of these entries gets one, unless it is imported, has another flag or is no longer " +
      "waiting.",
  )
  .addOption(sinceOption().makeOptionMandatory())
  .addOption(untilOption())
  .action(async (period: Period) => {
    await withOwner(async (client) => {
      const { cleared, queued } = await clearUnusualVolume(client, periodSql(period));
      print(`Cleared the flag of ${countEntries(cleared)}. Mails queued: ${queued}.\n`);
    });
  });

/** Short transactions: a sign-up of an address waits for the transaction that changes its entry. */
const batchSize = 200;

/** @param period an SQL condition on created_at. */
async function clearUnusualVolume(client: pg.Client, period: string): Promise<{ cleared: number; queued: number }> {
  const total = { cleared: 0, queued: 0 };
  const job = (await isQueueEnabled(client, "mail")) ? "public.earlyaccess_queue_mail(id)" : "NULL";
  for (;;) {
    const { rows } = await client.query<{ cleared: number; queued: number }>(
      `WITH cleared AS (
         UPDATE public.earlyaccess SET unusual_volume = false
         WHERE id IN (SELECT id FROM public.earlyaccess WHERE unusual_volume AND ${period} LIMIT ${batchSize})
         RETURNING id, status = 'waiting' AND ${isAnnouncedSql} AS is_mailed)
       SELECT count(*)::int AS cleared, count(${job}) FILTER (WHERE is_mailed)::int AS queued FROM cleared`,
    );
    const { cleared = 0, queued = 0 } = rows[0] ?? {};
    if (cleared === 0) return total;
    total.cleared += cleared;
    total.queued += queued;
  }
}
