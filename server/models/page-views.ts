// Page views per UTC day and source, as browsers report them: counted in memory, and stored once a minute. They identify no visitor,
// so they need no consent. To count responses instead would miss those of a CDN, and need lists of bots.
import type { Logger } from "pino";
import { errorFields } from "../errors.ts";
import { Prisma } from "../database/generated/client.ts";
import type { Database } from "../database/site-database.ts";
import { directSource, otherSources } from "./source.ts";

export type PageViews = ReturnType<typeof createPageViews>;

const flushMs = 60_000;
/** Named sources per flush. A flood of sources adds at most 102 rows a minute per process. */
const mostSources = 100;

interface Count {
  day: string;
  source: string;
  views: number;
}

export function createPageViews(execute: Database["execute"], log: Logger) {
  let counted = new Map<string, Count>();

  function add({ day, source, views }: Count) {
    const isNamed = counted.size < mostSources || source === directSource || counted.has(`${day} ${source}`);
    const name = isNamed ? source : otherSources;
    const count = counted.get(`${day} ${name}`) ?? { day, source: name, views: 0 };
    count.views += views;
    counted.set(`${day} ${name}`, count);
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
    add: (source: string) => add({ day: new Date().toISOString().slice(0, 10), source, views: 1 }),
    close: async () => {
      clearInterval(timer);
      await store();
    },
  };
}
