// What a scenario of the chaos tests is, and what it gets to work with.
import type { Postgres } from "../support/postgres.ts";
import type { Site } from "../support/site.ts";

export interface Stand {
  postgres: Postgres;
  /** Starts the built site on the stand's database; it is stopped, and its log searched, when the scenario ends. */
  startSite(env?: Record<string, string>, command?: [string, ...string[]]): Promise<Site>;
  /** Runs a statement as Postgres' superuser in the site's database. */
  query: (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  /** Says on stderr how far the scenario is. */
  say(text: string): void;
}

export interface Scenario {
  /** What happens, in a few words. */
  name: string;
  /** @returns what was seen, in a few words for the table; throws where a promise was broken. */
  run: (stand: Stand) => Promise<string>;
}
