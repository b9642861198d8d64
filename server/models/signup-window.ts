// Whether the list takes sign-ups: the setting, and the time at which an open list closes by itself.
import type { Config } from "../config.ts";

type SignupWindow = Pick<Config, "waitlist" | "waitlistCloses">;

/** Compares with the clock at each call. */
export function isOpen({ waitlist, waitlistCloses }: SignupWindow): boolean {
  return waitlist === "open" && !(waitlistCloses && Date.now() >= waitlistCloses.getTime());
}

/** Returns the closing time as text: the day if the list closes at its end in UTC, otherwise day and time. Intl would take 8 MB of memory. */
export function describeClosing(time: Date): string {
  const isMidnight = time.getTime() % 86_400_000 === 0;
  const shown = isMidnight ? new Date(time.getTime() - 1) : time;
  // From "Thu, 31 Dec 2026 17:00:00 GMT".
  return `${shown.toUTCString().slice(5, isMidnight ? 16 : 22)} (UTC)`;
}

/**
 * Calls `update` once an open list has closed by itself. Looks each second: a timer for the moment itself ends after 24.8 days
 * at most.
 * @returns a function that stops the watch.
 */
export function watchSignupWindow(window: SignupWindow, update: () => void): () => void {
  if (!isOpen(window)) return () => undefined;
  const timer = setInterval(() => {
    if (isOpen(window)) return;
    clearInterval(timer);
    update();
  }, 1_000);
  return () => clearInterval(timer);
}
