// The hourly ceiling: flags sign-ups above SIGNUP_HOURLY_CEILING, and refuses them above 100 times the ceiling.
import type { Logger } from "pino";
import { UnavailableError } from "../errors.ts";

export type SignupCeiling = ReturnType<typeof createSignupCeiling>;

const hourMs = 3_600_000;
/** The hard limit, in ceilings. An entry takes about 400 bytes: with the default of 1,000, the list grows by 1 GB a day at most. */
const hardLimit = 100;

const flagMessage =
  "more sign-ups in an hour than SIGNUP_HOURLY_CEILING: new entries get the flag unusual_volume. docs/incident.md says what to do";
const refuseMessage =
  "100 times SIGNUP_HOURLY_CEILING sign-ups in an hour: more are refused with 503 until the hour ends. docs/incident.md says what to do";

/**
 * The ceiling flags and does not refuse: otherwise, anybody with a few networks could lock everybody out. It counts sign-ups of
 * known addresses, too: otherwise, whether the next sign-up gets a mail would reveal who is on the list.
 * @param ceiling sign-ups of this process per hour, over all clients; 0 for no ceiling.
 */
export function createSignupCeiling(ceiling: number, log: Logger) {
  let hour = newHour(0);

  /** Logs each message once an hour: a line for each request of a flood would fill the disk. */
  function logOnce(level: "warn" | "error", message: string) {
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
    /** Removes a sign-up that was not stored from the count. */
    fail(): void {
      hour.signups--;
    },
  };
}

const newHour = (endsAt: number) => ({ endsAt, signups: 0, logged: new Set<string>() });
