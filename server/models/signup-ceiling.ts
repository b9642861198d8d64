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
  const mostSignups = ceiling * hardLimit;
  let signups = 0;
  let hourEnds = 0;
  let logged = new Set<string>();

  /** Logs a message once an hour: while Postgres is away, the count stands where each sign-up would log it. */
  function logOnce(level: "warn" | "error", message: string) {
    if (!logged.has(message)) log[level]({ ceiling }, message);
    logged.add(message);
  }

  return {
    /** Counts a sign-up that begins. Returns whether it is above the ceiling. @throws UnavailableError above the hard limit. */
    begin(): boolean {
      const now = performance.now();
      if (now >= hourEnds) [signups, hourEnds, logged] = [0, now + hourMs, new Set()];
      if (ceiling === 0) return false;
      const earlier = signups++;
      if (earlier === ceiling) logOnce("warn", flagMessage);
      if (earlier === mostSignups) logOnce("error", refuseMessage);
      if (earlier < mostSignups) return earlier >= ceiling;
      const seconds = Math.ceil((hourEnds - now) / 1000);
      throw new UnavailableError("There are more sign-ups than usual. Please try again later.", seconds);
    },
    /** Removes a sign-up that was not stored from the count. */
    fail: () => void signups--,
  };
}
