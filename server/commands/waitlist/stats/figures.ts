// The figures of stats: views, sign-ups, confirmed and invited ones, by day and by source.
import type pg from "pg";
import { sourceName } from "../../../models/source.ts";
import { isFlagged } from "../../../models/waitlist-entry.ts";

const counts = ["views", "signups", "flagged", "confirmed", "invited", "converted"] as const;

/**
 * `flagged` are suspicious sign-ups, `confirmed` those with a confirmed address, `invited` those with that status or joined.
 * `converted` are the sign-ups that count towards the rate: not imported, and on a day with counted views.
 */
export type Figure = { label: string } & Record<(typeof counts)[number], number>;

export interface Figures {
  /** Whether flagged entries count as sign-ups. */
  withFlagged: boolean;
  /** Whether the site ever sent a confirmation mail. */
  withConfirmed: boolean;
  /** Whether any view was counted. */
  withViews: boolean;
  total: Figure;
  byStatus: { label: string; signups: number }[];
  /** In UTC, the newest first, without days that have neither views nor sign-ups. */
  byDay: Figure[];
  /** Those with most sign-ups, then one figure for all others. */
  bySource: Figure[];
}

export interface Options {
  withFlagged: boolean;
  /** How many sources have a figure of their own. */
  sources: number;
}

/** @param period an SQL condition on created_at. */
export async function countFigures(client: pg.Client, period: string, options: Options): Promise<Figures> {
  const { withFlagged, sources } = options;
  const isSignup = withFlagged ? "true" : `NOT ${isFlagged}`;
  const count = async <T = Figure>(sql: string) => (await client.query<T & object>(sql)).rows as T[];
  // One snapshot for all counts.
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const [mails] = await count<{ sent: boolean }>(
    "SELECT EXISTS (SELECT FROM public.earlyaccess WHERE mailed_at IS NOT NULL OR confirmed_at IS NOT NULL) AS sent",
  );
  const byStatus = await count<{ label: string; signups: number }>(
    `SELECT status::text AS label, count(*)::float8 AS signups FROM public.earlyaccess
     WHERE ${period} AND ${isSignup} GROUP BY status ORDER BY status`,
  );
  const figures = viewsAndEntries(period, isSignup);
  const byDay = await count(
    `${figures} SELECT to_char(day, 'YYYY-MM-DD') AS label, ${sums} FROM figures GROUP BY day ORDER BY day DESC`,
  );
  const bySource = await count(`${figures} ${largestSources(sources)}`);
  await client.query("COMMIT");
  const total = sumFigures("all", byDay);
  return {
    withFlagged,
    withConfirmed: mails?.sent === true,
    withViews: total.views > 0,
    total,
    byStatus,
    byDay,
    bySource,
  };
}

export function sumFigures(label: string, figures: Figure[]): Figure {
  const sum = (key: (typeof counts)[number]) => figures.reduce((total, figure) => total + figure[key], 0);
  return { label, ...Object.fromEntries(counts.map((key) => [key, sum(key)])) } as Figure;
}

const sums = counts.map((key) => `sum(${key})::float8 AS ${key}`).join(", ");

/** Returns the beginning of a statement that reads from `figures`. --since and --until compare the midnight of a day's views. */
function viewsAndEntries(period: string, isSignup: string): string {
  const one = (condition: string) => `(${isSignup} AND ${condition})::int`;
  return `WITH viewed AS (
    SELECT created_at::date AS day, source, views
    FROM (SELECT day::timestamptz AS created_at, source, views FROM public.earlyaccess_views) v WHERE ${period}
  ), figures (day, source, ${counts.join(", ")}) AS (
    SELECT day, source, views, 0, 0, 0, 0, 0 FROM viewed
    UNION ALL
    SELECT created_at::date, ${sourceName}, 0, ${one("true")}, ${isFlagged}::int, ${one("confirmed_at IS NOT NULL")},
      ${one("status IN ('invited', 'joined')")},
      ${one("NOT imported AND created_at::date IN (SELECT day FROM viewed)")}
    FROM public.earlyaccess WHERE ${period}
  )`;
}

/** Links can name any number of sources. */
function largestSources(limit: number): string {
  return `, ranked AS (
    SELECT source, ${sums}, row_number() OVER (ORDER BY sum(signups) DESC, sum(views) DESC, source) AS place
    FROM figures GROUP BY source
  )
  SELECT CASE WHEN count(*) = 1 THEN min(source) ELSE to_char(count(*), 'FM999,999,999') || ' others' END AS label, ${sums}
  FROM ranked GROUP BY least(place, ${limit + 1}) ORDER BY min(place)`;
}
