// Page views per UTC day and source: counted in memory, and stored once a minute. Nothing identifies a visitor.
import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Database } from "../database/connect.ts";
import { errorFields } from "../database/error-fields.ts";
import { directSource } from "./source.ts";

export interface PageViews {
  add(source: string): void;
  /** Stores the views counted so far. If the database is down, keeps them for the next flush. */
  flush(): Promise<void>;
  /** Stores the rest. Views that cannot be stored are lost, and the log says how many. */
  close(): Promise<void>;
}

interface Row {
  id: string;
  day: string;
  source: string;
  views: number;
}

const dayMs = 86_400_000;
const flushMs = 60_000;
/** Named sources per flush. A flood of sources adds at most 102 rows a minute per process: 147,000 rows or 80 MB a day. */
const mostSources = 100;
/** The views of all further sources. */
const otherSources = "other";

/** An id that is stored already has no effect, so that a batch can be sent again after a timeout. */
const insertStatement = `
  INSERT INTO public.earlyaccess_views (id, day, source, views)
  SELECT id, day, source, views FROM json_populate_recordset(null::public.earlyaccess_views, $1::json)
  ON CONFLICT DO NOTHING`;

export function createPageViews(execute: Database["execute"], log: Logger): PageViews {
  let counted = new Map<string, Row>();
  /** Rows on their way to the database. They keep their ids until they are stored. */
  let batch: Row[] = [];
  let flushing = Promise.resolve();

  async function insert() {
    if (batch.length > 0) await execute(insertStatement, JSON.stringify(batch));
    batch = [];
  }

  async function store() {
    try {
      await insert();
      batch = [...counted.values()];
      counted = new Map();
      await insert();
    } catch (error) {
      log.warn({ error: errorFields(error) }, "page views could not be stored; the next attempt is in a minute");
    }
  }

  const flush = () => (flushing = flushing.then(store));
  const timer = setInterval(() => void flush(), flushMs).unref();

  return {
    add: (source) => {
      const day = Math.floor(Date.now() / dayMs);
      const isNamed = counted.size < mostSources || source === directSource || counted.has(`${day} ${source}`);
      const name = isNamed ? source : otherSources;
      const row = counted.get(`${day} ${name}`) ?? newRow(day, name);
      row.views++;
      counted.set(`${day} ${name}`, row);
    },
    flush,
    close: async () => {
      clearInterval(timer);
      await flush();
      const views = [...batch, ...counted.values()].reduce((sum, row) => sum + row.views, 0);
      if (views > 0) log.error({ views }, "page views are lost: the database was unavailable at the stop");
    },
  };
}

function newRow(day: number, source: string): Row {
  return { id: randomUUID(), day: new Date(day * dayMs).toISOString().slice(0, 10), source, views: 0 };
}
