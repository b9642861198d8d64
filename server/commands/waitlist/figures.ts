// Counts the sign-ups: in all, by status, by day and by source.
import type pg from "pg";
import { isFinal, isFlagged } from "../../models/waitlist-entry.ts";
import { inPeriod, type Period } from "./moment.ts";

export interface Figure {
  label: string;
  signups: number;
  flagged: number;
}

export interface Figures {
  /** Whether flagged entries count as sign-ups. */
  withFlagged: boolean;
  /** `flagged` is counted whether or not withFlagged is set. */
  total: Figure;
  /** In the order of a status' life. */
  byStatus: Figure[];
  /** In UTC, the oldest first; a day without sign-ups is left out. */
  byDay: Figure[];
  /** The largest first; what comes after the twenty largest is one figure. */
  bySource: Figure[];
}

const mostSources = 20;

/** The campaign's name where the link had one, otherwise the site that linked. */
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
  // All of the same moment.
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const [total = { label: "all", signups: 0, flagged: 0 }] = await count("'all'", "1", "true");
  const byStatus = await count("status::text", "min(earlyaccess.status)");
  const byDay = await count("to_char(created_at, 'YYYY-MM-DD')", "1");
  const bySource = joinSmallest(await count(source, "2 DESC, 1"));
  await client.query("COMMIT");
  return { withFlagged, total, byStatus, byDay, bySource };
}

/** Whoever makes up links can make up any number of sources. */
function joinSmallest(sources: Figure[]): Figure[] {
  const others = sources.slice(mostSources);
  if (others.length < 2) return sources;
  const sum = (key: "signups" | "flagged") => others.reduce((total, figure) => total + figure[key], 0);
  const rest = { label: `${others.length} others`, signups: sum("signups"), flagged: sum("flagged") };
  return [...sources.slice(0, mostSources), rest];
}
