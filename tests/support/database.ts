// A database of its own for a test file, in the one Postgres of the test run.
import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { adminsGroup, type DatabaseUrls } from "../../server/database/roles.ts";
import { queryAs } from "./query.ts";

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

/** Creates an empty database, an owner for it, and a name for each other role. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const asAdmin = (sql: string) => queryAs(superuserUrl("postgres"), sql);
  await asAdmin(`CREATE ROLE ${name}_owner LOGIN CREATEROLE PASSWORD 'owners-password'`);
  await asAdmin(`CREATE DATABASE ${name} OWNER ${name}_owner`);
  const as = (username: string, password: string) =>
    Object.assign(new URL(superuserUrl(name)), { username: `${name}_${username}`, password }).href;
  const ownerUrl = as("owner", "owners-password");
  return {
    ownerUrl,
    webUrl: as("web", "it's a long secret"),
    workerUrl: as("worker", "also a long secret"),
    adminRoleUrl: as("admin", "one more long secret"),
    query: (sql, values) => queryAs(ownerUrl, sql, values),
    drop: async () => {
      await asAdmin(`DROP DATABASE ${name} WITH (FORCE)`);
      await asAdmin(
        `DROP ROLE IF EXISTS ${name}_web, ${name}_worker, ${name}_admin, ${adminsGroup(name)}, ${name}_owner`,
      );
    },
  };
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  await migrate(database);
  return database;
}
