// A database of its own for a test file, in the one Postgres of the test run.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { inject } from "vitest";
import { migrate, type DatabaseUrls } from "../../server/database/migrate.ts";

export interface TestDatabase extends DatabaseUrls {
  /** A role that notices could be sent with; it is made where they are wanted. */
  notifyUrl: string;
  /** A role for admins; it is created where it is given as adminUrl. */
  adminRoleUrl: string;
  /** Runs a statement as the owner. */
  query: (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  drop(): Promise<void>;
}

export function superuserUrl(database: string): string {
  const url = new URL(inject("superuserUrl"));
  url.pathname = `/${database}`;
  return url.href;
}

/** A new owner, a new name for the web role and an empty database. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const admin = new pg.Client(superuserUrl("postgres"));
  await admin.connect();
  await admin.query(`CREATE ROLE ${name}_owner LOGIN CREATEROLE PASSWORD 'owners-password'`);
  await admin.query(`CREATE DATABASE ${name} OWNER ${name}_owner`);
  const as = (user: string, password: string) => {
    const url = new URL(superuserUrl(name));
    url.username = user;
    url.password = password;
    return url.href;
  };
  const ownerUrl = as(`${name}_owner`, "owners-password");
  const owner = new pg.Pool({ connectionString: ownerUrl });
  owner.on("error", () => undefined); // Tests end connections on purpose.
  return {
    ownerUrl,
    webUrl: as(`${name}_web`, "it's a long secret"),
    notifyUrl: as(`${name}_notify`, "also a long secret"),
    adminRoleUrl: as(`${name}_admin`, "one more long secret"),
    query: async (sql, values) => (await owner.query<Record<string, unknown>>(sql, values)).rows,
    drop: async () => {
      await owner.end();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.query(`DROP ROLE IF EXISTS ${name}_web, ${name}_notify, ${name}_admin, ${name}_owner`);
      await admin.end();
    },
  };
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  await migrate(database);
  return database;
}
