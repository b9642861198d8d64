// Counts of sign-ups: in total, by status, by day and by source.
import type pg from "pg";
import { isFinal, isFlagged } from "../../../models/waitlist-entry.ts";
import { inPeriod, type Period } from "../moment.ts";

export interface Figure {
  label: string;
  signups: number;
  flagged: number;
}

export interface Figures {
  /** Whether flagged entries count as sign-ups. */
  withFlagged: boolean;
  /** Its `flagged` does not depend on withFlagged. */
  total: Figure;
  /** In the order of the enum: waiting, invited, joined, left. */
  byStatus: Figure[];
  /** In UTC, the oldest first, without days that have no sign-ups. */
  byDay: Figure[];
  /** The 20 largest, then one figure for all others. */
  bySource: Figure[];
}

const mostSources = 20;

/** utm_source, else the host of the site that linked to the page. */
const source = "coalesce(nullif(utm_source, ''), nullif(referrer_host, ''), 'direct')";

export async function countSignups(client: pg.Client, period: Period, withFlagged: boolean): Promise<Figures> {
  const isSignup = withFlagged ? "true" : `NOT ${isFlagged}`;
  const count = async (label: string, order: string, where = isSignup) => {
    const { rows } = await client.query<Figure>(
      `SELECT ${label} AS label, (count(*) FILTER (WHERE ${isSignup}))::int AS signups,
              (count(*) FILTER (WHERE ${isFlagged}))::int AS flagged
       FROM public.earlyaccess WHERE ${inPeriod(period)} AND ${isFinal} AND ${where} GROUP BY 1 ORDER BY ${order}`,
    );
    return rows;
  };
  // One snapshot for all counts.
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const [total = { label: "all", signups: 0, flagged: 0 }] = await count("'all'", "1", "true");
  const byStatus = await count("status::text", "min(earlyaccess.status)");
  const byDay = await count("to_char(created_at, 'YYYY-MM-DD')", "1");
  const bySource = joinSmallest(await count(source, "2 DESC, 1"));
  await client.query("COMMIT");
  return { withFlagged, total, byStatus, byDay, bySource };
}

/** Links can name any number of sources. */
function joinSmallest(sources: Figure[]): Figure[] {
  const others = sources.slice(mostSources);
  if (others.length < 2) return sources;
  const sum = (key: "signups" | "flagged") => others.reduce((total, figure) => total + figure[key], 0);
  const rest = { label: `${others.length} others`, signups: sum("signups"), flagged: sum("flagged") };
  return [...sources.slice(0, mostSources), rest];
}
