// Prisma's migrations: reads prisma/migrations, compares it with the database, and applies what the database lacks.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { OperatorError } from "../operator-messages.ts";
import { projectRoot } from "../project-root.ts";
import { MissingRightError } from "./roles/set-up.ts";

const migrationsFolder = join(projectRoot, "prisma/migrations");

interface Migration {
  name: string;
  sql: string;
}

/** The key of the advisory lock that `prisma migrate deploy` holds while it applies migrations. */
export const migrationLock = 72_707_369;

/** Lists the migrations in the order in which they apply. */
export async function readMigrations(folder = migrationsFolder): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  return Promise.all(
    names.toSorted().map(async (name) => ({ name, sql: await readFile(join(folder, name, "migration.sql"), "utf8") })),
  );
}

/** Prisma's checksum of a migration. */
const checksum = (sql: string) => createHash("sha256").update(sql).digest("hex");

/**
 * Compares the migrations with their records in the database. Ignores migrations that another application recorded in the
 * same table, unless one of them is unfinished and the site has migrations to apply.
 * @returns the migrations to apply, and the names of those whose file has changed since.
 * @throws MissingRightError if the owner may not read the table; OperatorError if a migration is unfinished.
 */
export async function compareMigrations(owner: pg.Client, folder = migrationsFolder) {
  const migrations = await readMigrations(folder);
  const records = await readRecords(owner);
  const recorded = new Map(records.map((record) => [record.name, record]));
  const pending = migrations.filter(({ name }) => !recorded.has(name));
  const isOwn = (name: string) => migrations.some((migration) => migration.name === name);
  const unfinished = records.find(({ name, finished }) => !finished && (pending.length > 0 || isOwn(name)));
  if (unfinished) throw new OperatorError(describeUnfinished(unfinished.name));
  const changed = migrations.filter(
    ({ name, sql }) => recorded.has(name) && recorded.get(name)?.checksum !== checksum(sql),
  );
  return { pending, changed: changed.map(({ name }) => name) };
}

const describeUnfinished = (name: string) =>
  `Migration ${name} in public._prisma_migrations did not finish, and no other is applied until it is resolved. If it did not apply, run in the application it belongs to: npx prisma migrate resolve --rolled-back ${name}. If it did: --applied ${name}`;

async function readRecords(owner: pg.Client) {
  const { rows: tables } = await owner.query<{ role: string; may: boolean }>(
    `SELECT current_user AS role, has_table_privilege(c.oid, 'SELECT') AS may
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname = 'public' AND relname = '_prisma_migrations'`,
  );
  const [table] = tables;
  if (!table) return [];
  if (!table.may) {
    const grant = `GRANT SELECT, INSERT, UPDATE ON public._prisma_migrations TO ${pg.escapeIdentifier(table.role)}`;
    throw new MissingRightError("use another application's public._prisma_migrations", [grant]);
  }
  const { rows } = await owner.query<{ name: string; checksum: string; finished: boolean }>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished FROM public._prisma_migrations
     WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  return rows;
}

/**
 * Applies the pending migrations and records them as `prisma migrate deploy` does, each in one transaction. The caller
 * holds migrationLock.
 * @returns their names.
 * @throws the error of Postgres, whose message then names the migration.
 */
export async function applyMigrations(owner: pg.Client, folder = migrationsFolder): Promise<string[]> {
  const { pending } = await compareMigrations(owner, folder);
  if (pending.length > 0) await owner.query(createTable);
  for (const { name, sql } of pending) {
    try {
      // Migrations name tables without a schema.
      await owner.query(`BEGIN; SET LOCAL search_path = public; ${sql}`);
      await owner.query(insertRecord, [checksum(sql), name]);
      await owner.query("COMMIT");
    } catch (error) {
      await owner.query("ROLLBACK").catch(() => undefined); // The connection may be lost.
      if (error instanceof pg.DatabaseError) error.message = `Migration ${name} failed: ${error.message}`;
      throw error;
    }
  }
  return pending.map(({ name }) => name);
}

/** Prisma's own statement. */
const createTable = `
CREATE TABLE IF NOT EXISTS public._prisma_migrations (
  id                  VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum            VARCHAR(64) NOT NULL,
  finished_at         TIMESTAMPTZ,
  migration_name      VARCHAR(255) NOT NULL,
  logs                TEXT,
  rolled_back_at      TIMESTAMPTZ,
  started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

const insertRecord = `
INSERT INTO public._prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
VALUES (gen_random_uuid(), $1, $2, now(), clock_timestamp(), 1)`;
