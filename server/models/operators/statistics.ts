// The figures of stats: the funnel, and views, sign-ups and confirmed ones, by day, by source and by status.
import type pg from "pg";
import { sourceSql } from "../source.ts";

const counts = ["views", "signups", "confirmed", "converted"] as const;

/**
 * `converted` are the sign-ups that count towards the rate: not imported, and on a day with counted views. Today counts, too,
 * because the site stores its views once a minute.
 */
export type Figure = { label: string } & Record<(typeof counts)[number], number>;

export interface Figures {
  /** Entries without flag that were not imported. `joined` are those with that status, and `invited` also those with an invitation. */
  funnel: Record<"signups" | "confirmed" | "invited" | "joined", number>;
  total: Figure;
  /** In UTC, the newest first, without days that have neither views nor sign-ups. */
  byDay: Figure[];
  /** Figures of the sources with most sign-ups, then one figure for all others. */
  bySource: Figure[];
  byStatus: Figure[];
  /** Entries that the figures leave out. */
  flagged: number;
}

/** @param period an SQL condition on created_at. */
export async function countFigures(
  client: pg.Client,
  period: string,
  { withFlagged, sources }: { withFlagged: boolean; sources: number },
): Promise<Figures> {
  const countedSql = withFlagged ? "true" : "NOT suspected_spam";
  const figures = viewsAndEntries(period, countedSql);
  const query = async <T = Figure>(sql: string) => (await client.query<T & object>(sql)).rows as T[];
  // One snapshot for all counts.
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  const [funnel] = await query<Figures["funnel"]>(
    `SELECT count(*)::float8 AS signups, count(confirmed_at)::float8 AS confirmed,
            count(*) FILTER (WHERE status IN ('invited', 'joined') OR invitation IS NOT NULL)::float8 AS invited,
            count(*) FILTER (WHERE status = 'joined')::float8 AS joined
     FROM public.earlyaccess WHERE ${period} AND NOT suspected_spam AND NOT imported`,
  );
  const byDay = await query(
    `${figures} SELECT to_char(day, 'YYYY-MM-DD') AS label, ${sums} FROM figures GROUP BY day ORDER BY day DESC`,
  );
  const bySource = await query(`${figures} ${largestSources(sources)}`);
  const byStatus = await query(
    `SELECT status::text AS label, 0 AS views, count(*)::float8 AS signups, count(confirmed_at)::float8 AS confirmed, 0 AS converted
     FROM public.earlyaccess WHERE ${period} AND ${countedSql} GROUP BY status ORDER BY status`,
  );
  const [left] = await query<{ flagged: number }>(
    `SELECT count(*)::float8 AS flagged FROM public.earlyaccess WHERE ${period} AND NOT (${countedSql})`,
  );
  await client.query("COMMIT");
  const total = sumFigures(byDay);
  return { funnel: funnel as Figures["funnel"], total, byDay, bySource, byStatus, flagged: left?.flagged ?? 0 };
}

function sumFigures(figures: Figure[]): Figure {
  const sum = (key: (typeof counts)[number]) => figures.reduce((total, figure) => total + figure[key], 0);
  return { label: "all", ...Object.fromEntries(counts.map((key) => [key, sum(key)])) } as Figure;
}

const sums = counts.map((key) => `sum(${key})::float8 AS ${key}`).join(", ");

/** Returns the beginning of a statement that reads from `figures`. --since and --until treat the views of a day as of its midnight. */
function viewsAndEntries(period: string, countedSql: string): string {
  return `WITH viewed AS (
    SELECT created_at::date AS day, source, views
    FROM (SELECT day::timestamptz AS created_at, source, views FROM public.earlyaccess_views) v WHERE ${period}
  ), figures (day, source, ${counts.join(", ")}) AS (
    SELECT day, source, views, 0, 0, 0 FROM viewed
    UNION ALL
    SELECT created_at::date, ${sourceSql}, 0, 1, (confirmed_at IS NOT NULL)::int,
      (NOT imported AND created_at::date IN (SELECT day FROM viewed UNION SELECT current_date))::int
    FROM public.earlyaccess WHERE ${period} AND ${countedSql}
  )`;
}

/** Limits the sources: links can name any number. */
function largestSources(limit: number): string {
  return `, ranked AS (
    SELECT source, ${sums}, row_number() OVER (ORDER BY sum(signups) DESC, sum(views) DESC, source) AS place
    FROM figures GROUP BY source
  )
  SELECT CASE WHEN count(*) = 1 THEN min(source) ELSE to_char(count(*), 'FM999,999,999') || ' others' END AS label, ${sums}
  FROM ranked GROUP BY least(place, ${limit + 1}) ORDER BY min(place)`;
}
