// Databases in the one Postgres of the test run: copies of migrated templates, which take no time, and empty ones.
import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { adminsGroup, type DatabaseUrls } from "../../server/database/roles.ts";
import { queryAs } from "./query.ts";
import type { Template } from "./templates.ts";

export interface TestDatabase extends DatabaseUrls {
  /** The role of the worker, which a migration with `worker` creates. */
  workerUrl: string;
  /** The role of admins, which a migration with adminUrl creates. */
  adminRoleUrl: string;
  /** Runs a statement as the owner. */
  query: (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

export function superuserUrl(database: string): string {
  return Object.assign(new URL(inject("superuserUrl")), { pathname: `/${database}` }).href;
}

const asSuperuser = (sql: string) => queryAs(superuserUrl("postgres"), sql);
const createName = () => `test_${randomBytes(6).toString("hex")}`;

function toTestDatabase(name: string, urls: DatabaseUrls): TestDatabase {
  const as = (role: string, password: string) =>
    Object.assign(new URL(superuserUrl(name)), { username: `${name}_${role}`, password }).href;
  return {
    ...urls,
    workerUrl: urls.worker?.url ?? as("worker", "also a long secret"),
    adminRoleUrl: as("admin", "one more long secret"),
    query: (sql, values) => queryAs(urls.ownerUrl, sql, values),
    drop: async () => {
      await asSuperuser(`DROP DATABASE ${name} WITH (FORCE)`);
      const roles = ["web", "worker", "admin", "owner"].map((role) => `${name}_${role}`);
      await asSuperuser(`DROP ROLE IF EXISTS ${[...roles, adminsGroup(name)].join(", ")}`);
    },
  };
}

/** Creates an empty database, an owner for it, and a name for each other role. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const name = createName();
  await asSuperuser(`CREATE ROLE ${name}_owner LOGIN CREATEROLE PASSWORD 'owners-password'`);
  await asSuperuser(`CREATE DATABASE ${name} OWNER ${name}_owner`);
  const as = (username: string, password: string) =>
    Object.assign(new URL(superuserUrl(name)), { username: `${name}_${username}`, password }).href;
  return toTestDatabase(name, { ownerUrl: as("owner", "owners-password"), webUrl: as("web", "it's a long secret") });
}

/** Creates a copy of a migrated database. All copies have the same owner and the same web role. */
export async function createTestDatabase(template: Template = "site"): Promise<TestDatabase> {
  const name = createName();
  const { urls, database, owner } = inject("templates")[template];
  await asSuperuser(`CREATE DATABASE ${name} TEMPLATE ${database} OWNER ${owner}`);
  const inCopy = (url: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href;
  return toTestDatabase(name, {
    ...urls,
    ownerUrl: inCopy(urls.ownerUrl),
    webUrl: inCopy(urls.webUrl),
    ...(urls.worker && { worker: { ...urls.worker, url: inCopy(urls.worker.url) } }),
  });
}
