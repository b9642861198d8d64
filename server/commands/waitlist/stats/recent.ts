// The latest periods of stats: yesterday, 7 and 30 days, each with its growth against the period before.
import { sumFigures, type Figure } from "./figures.ts";
import { formatGrowth } from "./rate.ts";

export interface Recent extends Figure {
  growth: { views: string; signups: string };
}

const dayMs = 86_400_000;
const periods: [string, number][] = [
  ["yesterday", 1],
  ["last 7 days", 7],
  ["last 30 days", 30],
];

/** The periods end yesterday, because today is incomplete. Growth is unknown unless both periods were counted from their first day. */
export function recentPeriods(byDay: Figure[], now: Date): Recent[] {
  const daysAgo = ({ label }: Figure) => Math.floor(now.getTime() / dayMs) - Date.parse(label) / dayMs;
  return periods.map(([label, days]) => {
    const within = (from: number, to: number) => byDay.filter((day) => daysAgo(day) >= from && daysAgo(day) <= to);
    const before = sumFigures(label, within(days + 1, 2 * days));
    const current = sumFigures(label, within(1, days));
    const growthOf = (key: "views" | "signups") => {
      const first = byDay.findLast((day) => day[key] > 0);
      return formatGrowth(current[key], first && daysAgo(first) >= 2 * days ? before[key] : undefined);
    };
    return Object.assign(current, { growth: { views: growthOf("views"), signups: growthOf("signups") } });
  });
}
