// The hourly ceiling: flags new entries above SIGNUP_HOURLY_CEILING, and refuses sign-ups above 100 times the ceiling.
import type { Logger } from "pino";
import { UnavailableError } from "../errors.ts";

export type SignupCeiling = ReturnType<typeof createSignupCeiling>;

const hourMs = 3_600_000;
/** The hard limit, in ceilings. An entry takes about 400 bytes: with the default of 1,000, the list grows by 1 GB a day at most. */
const hardLimit = 100;

const flagMessage =
  "more new sign-ups in an hour than SIGNUP_HOURLY_CEILING: those above it get the flag unusual_volume. docs/incident.md says what to do";
const refuseMessage =
  "100 times SIGNUP_HOURLY_CEILING sign-ups in an hour: more are refused with 503 until the hour ends. docs/incident.md says what to do";

/**
 * Flags and does not refuse: otherwise, anybody with a few networks could lock everybody out. Each process counts its
 * own new entries. A count that replicas share would need a request for new entries only, whose time would reveal whether an
 * address was on the list.
 * @param ceiling new entries of this process per hour, over all clients; 0 for no ceiling.
 */
export function createSignupCeiling(ceiling: number, log: Logger) {
  let hour = newHour(0);
  /** Entries in progress. They count as new until Postgres has answered. */
  let pending = 0;

  function isUnusual(): boolean {
    if (ceiling === 0) return false;
    const now = performance.now();
    if (now >= hour.endsAt) hour = newHour(now + hourMs);
    if (hour.signups + pending >= ceiling * hardLimit) {
      logOnce("error", refuseMessage);
      const seconds = Math.ceil((hour.endsAt - now) / 1000);
      throw new UnavailableError("There are more sign-ups than usual. Please try again later.", seconds);
    }
    if (hour.entries + pending < ceiling) return false;
    logOnce("warn", flagMessage);
    return true;
  }

  /** Logs each message once an hour: a line for each request of a flood would fill the disk. */
  function logOnce(level: "warn" | "error", message: string): void {
    if (hour.logged.has(message)) return;
    hour.logged.add(message);
    log[level]({ ceiling }, message);
  }

  return {
    /**
     * Stores and counts a sign-up. Resolves with nothing: a response must not tell whether the address is on the list.
     * @param store takes the entry's flag unusual_volume, and resolves with the result of Waitlist.join.
     */
    async pass(store: (unusualVolume: boolean) => Promise<boolean>): Promise<void> {
      const unusualVolume = isUnusual();
      pending++;
      try {
        if (await store(unusualVolume)) hour.entries++;
        hour.signups++;
      } finally {
        pending--;
      }
    },
  };
}

/** `signups` also counts duplicates: otherwise the hard limit would reveal which addresses are on the list. */
function newHour(endsAt: number) {
  return { endsAt, entries: 0, signups: 0, logged: new Set<string>() };
}
