// The stand on which a scenario runs: a Postgres and sites of its own, and an end at which their logs are searched.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { migrate } from "../../server/database/migrate.ts";
import { startPostgres } from "../support/postgres.ts";
import { startSite, type Site } from "../support/site.ts";
import type { Stand } from "./scenario.ts";

/** Words of every sign-up that the scenarios send, in lower case; none may stand in a log. */
const privateWords = ["@", "%40", "lovelace", "analytical"];

/** A new visitor's sign-up; `number` makes the address. */
export const visitor = (number: number | string) => ({
  name: "Ada Lovelace",
  email: `ada.${number}@example.com`,
  company: "Analytical Engines",
});

export async function openStand(
  say: (text: string) => void,
  parent?: string,
): Promise<Stand & { close(): Promise<void> }> {
  const postgres = await startPostgres(parent);
  await migrate(postgres);
  const superuser = new pg.Pool({ connectionString: withDatabaseOf(postgres.ownerUrl, postgres.superuserUrl), max: 1 });
  superuser.on("error", () => undefined); // Scenarios end Postgres on purpose.
  const sites: Site[] = [];
  return {
    postgres,
    say,
    query: async (sql, values) => (await superuser.query<Record<string, unknown>>(sql, values)).rows,
    startSite: async (env = {}, command) => {
      const given = { DATABASE_URL: postgres.webUrl, SIGNUP_LIMIT: "1000000", SIGNUP_HOURLY_CEILING: "0" };
      const site = await startSite({ env: { ...given, ...env }, ...(command && { command }) });
      sites.push(site);
      return site;
    },
    close: async () => {
      for (const site of sites) await site.stop("SIGKILL");
      await superuser.end();
      const postgresLog = await readFile(join(postgres.directory, "postgres.log"), "utf8");
      await postgres.release();
      assertPrivate(postgresLog);
      for (const site of sites) assertPrivate(site.stdout() + site.stderr());
    },
  };
}

function withDatabaseOf(database: string, credentials: string): string {
  return Object.assign(new URL(credentials), { pathname: new URL(database).pathname }).href;
}

function assertPrivate(log: string): void {
  const lower = log.toLowerCase();
  for (const word of privateWords) {
    const at = lower.indexOf(word);
    assert(at < 0, `The log holds "${word}": ${log.slice(Math.max(0, at - 200), at + 100)}`);
  }
}
