// Databases in the one Postgres of the test run, which is deleted at its end: copies of migrated templates, and empty ones.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import type { DatabaseSettings } from "../../server/config/database-urls.ts";
import type { Template } from "./global-setup.ts";
import { createDatabase, lastRows, queryAs, timeouts, urlOf } from "./postgres.ts";

export interface TestDatabase extends DatabaseSettings {
  /** The names of its roles begin with it. */
  name: string;
  /** The role of the worker, which a migration with `worker` creates. */
  workerUrl: string;
  /** The role of admins, which a migration with adminUrl creates. */
  adminRoleUrl: string;
  /** Runs a statement as the owner. */
  query: (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  asSuperuser: (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
}

/** An entry of somebody. */
export const insertEntry =
  "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'A', 'a@b.co', 'C')";

export function superuserUrl(database: string): string {
  return Object.assign(new URL(inject("superuserUrl")), { pathname: `/${database}` }).href;
}

const createName = () => `test_${randomBytes(6).toString("hex")}`;

function toTestDatabase(name: string, urls: DatabaseSettings): TestDatabase {
  return {
    ...urls,
    name,
    workerUrl: urls.worker?.url ?? urlOf(superuserUrl(name), name, "worker", "also a long secret"),
    adminRoleUrl: urlOf(superuserUrl(name), name, "admin", "one more long secret"),
    query: openQueries(urls.ownerUrl),
    asSuperuser: (sql, values) => queryAs(superuserUrl(name), sql, values),
  };
}

/** Returns queryAs of one role. It keeps connections for a moment: to open one takes much more processor time than a query. */
function openQueries(connectionString: string): TestDatabase["query"] {
  const pool = new pg.Pool({ connectionString, ...timeouts, max: 50, idleTimeoutMillis: 500, allowExitOnIdle: true });
  pool.on("error", () => undefined).on("connect", (client) => client.on("error", () => undefined));
  return async (sql, values) => {
    const client = await pool.connect();
    try {
      return lastRows(await client.query<Record<string, unknown>>(sql, values));
    } finally {
      // The next query finds a new session. An open transaction ends with its connection.
      await client.query("DISCARD ALL").then(
        () => client.release(),
        () => client.release(true),
      );
    }
  };
}

/** Creates an empty database, an owner for it, and a name for each other role. @param options of CREATE DATABASE. */
export async function createEmptyDatabase(options = ""): Promise<TestDatabase> {
  const name = createName();
  return toTestDatabase(name, await createDatabase(superuserUrl("postgres"), name, options));
}

/** Returns the SQL that creates the web role of an empty database, as migrating would. */
export const createWebRole = ({ name }: TestDatabase) => `CREATE ROLE ${name}_web LOGIN PASSWORD 'it''s a long secret'`;

/** Creates a copy of a migrated database. All copies have the same owner and the same web role. */
export async function createTestDatabase(template: Template = "site"): Promise<TestDatabase> {
  const name = createName();
  const { ownerUrl, webUrl, worker, ...others } = inject("templates")[template];
  const { username } = new URL(ownerUrl);
  // The other strategy also writes each page to the log, which takes more processor time.
  const create = `CREATE DATABASE ${name} TEMPLATE template_${template} OWNER ${username} STRATEGY FILE_COPY`;
  await queryAs(superuserUrl("postgres"), create);
  const inCopy = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  return toTestDatabase(name, {
    ...others,
    ownerUrl: inCopy(ownerUrl),
    webUrl: inCopy(webUrl),
    ...(worker && { worker: { ...worker, url: inCopy(worker.url) } }),
  });
}
