// The hourly ceiling: flags sign-ups above SIGNUP_HOURLY_CEILING, refuses them above 100 times the ceiling, and clears flags.
import type pg from "pg";
import type { Logger } from "pino";
import { isQueueEnabled } from "../database/queue.ts";
import { UnavailableError } from "./batch.ts";

export type SignupCeiling = ReturnType<typeof createSignupCeiling>;

const hourMs = 3_600_000;
/** The hard limit, in ceilings. An entry takes about 400 bytes: with the default of 1,000, the list grows by 1 GB a day at most. */
const hardLimit = 100;

const flagMessage =
  "more sign-ups in an hour than SIGNUP_HOURLY_CEILING: new entries get the flag unusual_volume. docs/incident.md says what to do";
const refuseMessage =
  "100 times SIGNUP_HOURLY_CEILING sign-ups in an hour: more are refused with 503 until the hour ends. docs/incident.md says what to do";

/**
 * Flags and does not refuse: otherwise, anybody with a few networks could lock everybody out. Counts sign-ups of known
 * addresses, too: otherwise, the flag of the next sign-up, which gets no mail, would reveal who is on the list.
 * @param ceiling sign-ups of this process per hour, over all clients; 0 for no ceiling.
 */
export function createSignupCeiling(ceiling: number, log: Logger) {
  let hour = newHour(0);

  /** Logs each message once an hour: a line for each request of a flood would fill the disk. */
  function logOnce(level: "warn" | "error", message: string): void {
    if (hour.logged.has(message)) return;
    hour.logged.add(message);
    log[level]({ ceiling }, message);
  }

  return {
    /**
     * Counts a sign-up that begins. Returns whether it is above the ceiling.
     * @throws UnavailableError above the hard limit, without counting.
     */
    begin(): boolean {
      const now = performance.now();
      if (now >= hour.endsAt) hour = newHour(now + hourMs);
      if (ceiling > 0 && hour.signups >= ceiling * hardLimit) {
        logOnce("error", refuseMessage);
        const seconds = Math.ceil((hour.endsAt - now) / 1000);
        throw new UnavailableError("There are more sign-ups than usual. Please try again later.", seconds);
      }
      const isAbove = ceiling > 0 && hour.signups >= ceiling;
      if (isAbove) logOnce("warn", flagMessage);
      hour.signups++;
      return isAbove;
    },
    /** Takes back a sign-up that was not stored. */
    fail(): void {
      hour.signups--;
    },
  };
}

const newHour = (endsAt: number) => ({ endsAt, signups: 0, logged: new Set<string>() });

/** Short transactions: a sign-up of an address waits for the transaction that changes its entry. */
const batchSize = 200;

/**
 * Clears the flag unusual_volume, and queues the confirmation mails that it held back.
 * @param period an SQL condition on created_at.
 */
export async function clearUnusualVolume(
  client: pg.Client,
  period: string,
): Promise<{ cleared: number; queued: number }> {
  const total = { cleared: 0, queued: 0 };
  const job = (await isQueueEnabled(client, "mail")) ? "public.earlyaccess_queue_mail(id)" : "NULL";
  for (;;) {
    const { rows } = await client.query<{ cleared: number; queued: number }>(
      `WITH cleared AS (
         UPDATE public.earlyaccess SET unusual_volume = false
         WHERE id IN (SELECT id FROM public.earlyaccess WHERE unusual_volume AND ${period} LIMIT ${batchSize})
         RETURNING id, status = 'waiting' AND NOT (suspected_spam OR disposable_email OR imported) AS is_mailed)
       SELECT count(*)::int AS cleared, count(${job}) FILTER (WHERE is_mailed)::int AS queued FROM cleared`,
    );
    const { cleared = 0, queued = 0 } = rows[0] ?? {};
    if (cleared === 0) return total;
    total.cleared += cleared;
    total.queued += queued;
  }
}
