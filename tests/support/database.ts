// Databases in the one Postgres of the test run, which is deleted at its end: copies of migrated templates, and empty ones.
import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import type { DatabaseSettings } from "../../server/config/database-urls.ts";
import type { Template } from "./global-setup.ts";
import { createDatabase, queryAs, urlOf } from "./postgres.ts";

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
    query: (sql, values) => queryAs(urls.ownerUrl, sql, values),
    asSuperuser: (sql, values) => queryAs(superuserUrl(name), sql, values),
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
  const create = `CREATE DATABASE ${name} TEMPLATE template_${template} OWNER ${username}`;
  await queryAs(superuserUrl("postgres"), create);
  const inCopy = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  return toTestDatabase(name, {
    ...others,
    ownerUrl: inCopy(ownerUrl),
    webUrl: inCopy(webUrl),
    ...(worker && { worker: { ...worker, url: inCopy(worker.url) } }),
  });
}
