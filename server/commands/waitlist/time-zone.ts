// Days and clock times in a time zone, with the rules of Intl.

const dayMs = 86_400_000;

export function isTimeZone(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat("en", { timeZone: name }));
  } catch {
    return false;
  }
}

/**
 * Returns the moment at which the clocks of the zone show a time. A time that they show twice is the first one; a time that
 * they skip counts from before the change, as in Temporal: 02:30 becomes 03:30.
 * @param clock the time as if it was UTC.
 */
export function fromClock(clock: Date, zone: string): Date {
  const wall = clock.getTime();
  const [before, after] = [-dayMs, dayMs].map((distance) => offsetAt(wall + distance, zone)) as [number, number];
  const moment = [wall - before, wall - after].find((candidate) => offsetAt(candidate, zone) === wall - candidate);
  return new Date(moment ?? wall - before);
}

/** Returns the date in the zone, for example 2026-01-31. */
export function dateAt(moment: Date, zone: string): string {
  return new Date(moment.getTime() + offsetAt(moment.getTime(), zone)).toISOString().slice(0, 10);
}

/** @param days may be negative. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10);
}

/** Returns the zone's distance from UTC in milliseconds, positive in the east. */
function offsetAt(moment: number, zone: string): number {
  const format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" });
  // "GMT", "GMT+02:00", or with seconds, which zones had in the 19th century.
  const [, sign, hours, minutes, seconds] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(format.format(moment)) ?? [];
  const distance = (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1000;
  return sign === "-" ? -distance : distance;
}
