// Whether the list takes sign-ups: the setting, and the time at which an open list closes by itself.
import type { Config } from "../config/config.ts";

type Opening = Pick<Config, "waitlist" | "waitlistCloses">;

/** Compares with the clock at each call. */
export function isOpen({ waitlist, waitlistCloses }: Opening): boolean {
  return waitlist === "open" && !(waitlistCloses && Date.now() >= waitlistCloses.getTime());
}

const day = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeZone: "UTC" });
const minute = new Intl.DateTimeFormat("en-US", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

/** Returns the day of which the given time is the end, or the time, for a text. */
export function describeClosing(time: Date): string {
  const isMidnight = time.getTime() % 86_400_000 === 0;
  return isMidnight ? `${day.format(time.getTime() - 1)} (UTC)` : `${minute.format(time)} (UTC)`;
}

/** In milliseconds. A timer for the moment itself would ignore a changed clock, and ends after 24.8 days at most. */
const interval = 1_000;

/**
 * Calls `update` after the list closes, and again if the clock is set back; once more a second later if it rejects.
 * @returns a function that ends this.
 */
export function watchOpening(
  opening: Opening,
  update: () => Promise<void>,
  onError: (error: unknown) => void,
): () => void {
  let shown = isOpen(opening);
  const timer = setInterval(() => {
    const open = isOpen(opening);
    if (open === shown) return;
    shown = open;
    update().catch((error: unknown) => {
      shown = !open;
      onError(error);
    });
  }, interval);
  return () => clearInterval(timer);
}
