// Counts of sign-ups, flagged and confirmed ones: in total, by status, by day and by source.
import type pg from "pg";
import { isFinal, isFlagged } from "../../../models/waitlist-entry.ts";
import { inPeriod, type Period } from "../moment.ts";

export interface Figure {
  label: string;
  signups: number;
  flagged: number;
  /** Those of `signups` whose address was confirmed. */
  confirmed: number;
}

export interface Figures {
  /** Whether flagged entries count as sign-ups. */
  withFlagged: boolean;
  /** Whether the site ever sent a confirmation mail. */
  withConfirmed: boolean;
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
              (count(*) FILTER (WHERE ${isFlagged}))::int AS flagged,
              (count(*) FILTER (WHERE ${isSignup} AND confirmed_at IS NOT NULL))::int AS confirmed
       FROM public.earlyaccess WHERE ${inPeriod(period)} AND ${isFinal} AND ${where} GROUP BY 1 ORDER BY ${order}`,
    );
    return rows;
  };
  // One snapshot for all counts.
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const { rows: mails } = await client.query(
    "SELECT EXISTS (SELECT FROM public.earlyaccess WHERE mailed_at IS NOT NULL OR confirmed_at IS NOT NULL) AS sent",
  );
  const [total = { label: "all", signups: 0, flagged: 0, confirmed: 0 }] = await count("'all'", "1", "true");
  const byStatus = await count("status::text", "min(earlyaccess.status)");
  const byDay = await count("to_char(created_at, 'YYYY-MM-DD')", "1");
  const bySource = joinSmallest(await count(source, "2 DESC, 1"));
  await client.query("COMMIT");
  return { withFlagged, withConfirmed: mails[0].sent as boolean, total, byStatus, byDay, bySource };
}

/** Links can name any number of sources. */
function joinSmallest(sources: Figure[]): Figure[] {
  const others = sources.slice(mostSources);
  if (others.length < 2) return sources;
  const sum = (key: "signups" | "flagged" | "confirmed") => others.reduce((total, figure) => total + figure[key], 0);
  const label = `${others.length} others`;
  const rest = { label, signups: sum("signups"), flagged: sum("flagged"), confirmed: sum("confirmed") };
  return [...sources.slice(0, mostSources), rest];
}
