// A Postgres and built sites of its own for a scenario, whose logs are searched for visitors' data at the end.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { migrate } from "../../server/database/migrate.ts";
import { startPostgres, type Postgres, queryAs } from "./postgres.ts";
import type { Options, Site } from "./run.ts";
import { startSite } from "./site.ts";

export interface Stack {
  postgres: Postgres;
  /** For files; deleted at the end. */
  folder: string;
  /** Starts the built site on the stack's database; it is killed when the scenario ends. */
  startSite(env?: Record<string, string>, options?: Options): Promise<Site>;
  /** Runs a statement as Postgres' superuser in the site's database. */
  query: (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
}

/** What each scenario does, by its name. Returns what was measured; throws if a check fails. */
export type StackScenarios = Record<string, (stack: Stack) => Promise<string>>;

/** A valid sign-up; `number` makes the address. */
export const signupBody = (number: number | string) => ({
  name: "Ada Lovelace",
  email: `ada.${number}@example.com`,
  company: "Analytical Engines",
});

/** Every sign-up holds these, in upper or lower case. */
const privateWords = /@|%40|lovelace|analytical/i;

/** @param parent the folder for Postgres' data, such as a small disk. */
export async function withStack<T>(use: (stack: Stack) => Promise<T>, parent?: string): Promise<T> {
  const postgres = await startPostgres(parent);
  const superuserUrl = Object.assign(new URL(postgres.superuserUrl), { pathname: new URL(postgres.webUrl).pathname });
  const sites: Site[] = [];
  try {
    await migrate(postgres);
    const result = await use({
      postgres,
      folder: dirname(postgres.directory),
      query: (sql, values) => queryAs(superuserUrl.href, sql, values),
      startSite: async (env = {}, options = {}) => {
        const defaults = { DATABASE_URL: postgres.webUrl, SIGNUP_LIMIT: "1000000", SIGNUP_HOURLY_CEILING: "0" };
        const site = await startSite({ ...options, env: { ...defaults, ...env } });
        sites.push(site);
        return site;
      },
    });
    assertPrivate(await readFile(join(postgres.directory, "postgres.log"), "utf8"));
    for (const site of sites) assertPrivate(site.stdout() + site.stderr());
    return result;
  } finally {
    for (const site of sites) await site.stop("SIGKILL");
    await postgres.release();
  }
}

function assertPrivate(log: string): void {
  const at = log.search(privateWords);
  assert(at < 0, `A log contains a visitor's data: ${log.slice(Math.max(0, at - 200), at + 100)}`);
}
