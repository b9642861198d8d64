// Page views per UTC day and source, as browsers report them: counted in memory, and stored once a minute. They identify no visitor,
// so they need no consent. To count responses instead would miss those of a CDN, and need lists of bots.
import type { Logger } from "pino";
import { errorFields } from "../errors.ts";
import { Prisma } from "../database/generated/client.ts";
import type { Database } from "../database/site-database.ts";
import { directSource, otherSources } from "./source.ts";

export type PageViews = ReturnType<typeof createPageViews>;

const flushMs = 60_000;
/** Further names an hour and process: a flood of sources adds at most 1,200 rows a day, and hides new sources for its hour only. */
const newNamesPerHour = 50;

interface Count {
  day: string;
  source: string;
  views: number;
}

export function createPageViews(execute: Database["execute"], log: Logger) {
  let counted = new Map<string, Count>();
  const chooseName = createNames();

  function add({ day, source, views }: Count) {
    const count = counted.get(`${day} ${source}`) ?? { day, source, views: 0 };
    count.views += views;
    counted.set(`${day} ${source}`, count);
  }

  /** Stores the views counted so far. If that fails, keeps them for the next flush. */
  async function store() {
    const counts = [...counted.values()];
    if (counts.length === 0) return;
    counted = new Map();
    try {
      // The web role can neither read nor update the counts, so a function adds to them.
      await execute(Prisma.sql`
        SELECT public.earlyaccess_count_views(day, source, views)
        FROM json_to_recordset(${JSON.stringify(counts)}::json) AS counted (day date, source text, views int) ORDER BY day, source`);
    } catch (thrown) {
      log.warn({ error: errorFields(thrown) }, "page views could not be stored; the next attempt is in a minute");
      counts.forEach(add);
    }
  }

  const timer = setInterval(() => void store(), flushMs).unref();

  return {
    add: (source: string) => {
      const time = new Date().toISOString();
      add({ day: time.slice(0, 10), source: chooseName(source, time), views: 1 });
    },
    close: async () => {
      clearInterval(timer);
      await store();
    },
  };
}

/** Returns a function that names a source, or returns "other". A name that was counted today stays named. @param time in ISO 8601. */
function createNames() {
  let [today, hour] = ["", ""];
  let names = new Set<string>();
  let newNames = 0;
  return (source: string, time: string): string => {
    if (time.slice(0, 10) !== today) [today, names] = [time.slice(0, 10), new Set([directSource])];
    if (time.slice(0, 13) !== hour) [hour, newNames] = [time.slice(0, 13), 0];
    if (names.has(source)) return source;
    if (newNames === newNamesPerHour) return otherSources;
    newNames++;
    names.add(source);
    return source;
  };
}
