// Applies and writes migrations with Prisma's schema engine.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";
import type pg from "pg";
import { OperatorError } from "../operator-error.ts";
import { projectRoot } from "../project-root.ts";
import { schemaFile, withEngine } from "./prisma-engine.ts";

const prismaFolder = join(projectRoot, "prisma");

/** Nothing is external when two schema files are compared. */
const noFilters: bindings.SchemaFilter = { externalTables: [], externalEnums: [] };

/**
 * Applies the migrations that the database lacks, and records them as `prisma migrate deploy` does. The database may
 * hold other tables, and other applications' migrations in the same table.
 * @returns the names of those it applied.
 * @throws OperatorError if an earlier migration is recorded as unfinished.
 */
export async function applyMigrations(ownerUrl: string, folder = prismaFolder): Promise<string[]> {
  const migrations = join(folder, "migrations");
  const migrationsList: bindings.MigrationList = {
    baseDir: migrations,
    lockfile: {
      path: "migration_lock.toml",
      content: await readFile(join(migrations, "migration_lock.toml"), "utf8"),
    },
    shadowDbInitScript: "",
    migrationDirectories: (await readMigrations(folder)).map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: "migration.sql", content: { tag: "ok", value: sql } },
    })),
  };
  return withEngine(ownerUrl, folder, async (engine, scripts, pool) => {
    try {
      const filters = { externalTables: await listTables(pool), externalEnums: [] };
      return (await engine.applyMigrations({ migrationsList, filters })).appliedMigrationNames;
    } catch (error) {
      if (!scripts.failure) throw describeUnfinished(error) ?? error;
      // It was rolled back as a whole, so the mended one may be tried again.
      const name = /migration_name="([^"]+)"/.exec(String(error))?.[1] ?? "";
      await engine.markMigrationRolledBack({ migrationName: name });
      throw new Error(`Migration ${name} failed: ${scripts.failure.message}`, { cause: error });
    }
  });
}

/** The engine refuses to begin in a schema with tables (P3005), unless it is told that these are managed elsewhere. */
async function listTables(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT 'public.' || relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname = 'public' AND relkind IN ('r', 'p') AND relname <> '_prisma_migrations'`,
  );
  return rows.map(({ name }) => name);
}

/** The engine applies nothing while any migration in its table is unfinished, even another application's (P3009). */
function describeUnfinished(error: unknown): OperatorError | undefined {
  if ((error as { code?: string }).code !== "P3009") return undefined;
  const name = /The `([^`]+)` migration/.exec(String(error))?.[1];
  return new OperatorError(
    `Migration ${name} in public._prisma_migrations did not finish, and Prisma applies no other until it is resolved. If it did not apply, run in the application it belongs to: npx prisma migrate resolve --rolled-back ${name}. If it did: --applied ${name}`,
    { cause: error },
  );
}

/**
 * Writes a migration that leads from the schema of the latest one to prisma/schema.prisma. Each migration keeps
 * the schema it leads to beside its SQL: read from a database the old schema would need a shadow database, and
 * this engine cannot read a schema back through a driver adapter.
 * @returns the new migration's folder, or undefined where the schema has not changed.
 */
export async function writeMigration(
  databaseUrl: string,
  name: string,
  folder = prismaFolder,
): Promise<string | undefined> {
  const migrations = join(folder, "migrations");
  const latest = (await migrationNames(migrations)).at(-1);
  const target = await schemaFile(join(folder, "schema.prisma"));
  return withEngine(databaseUrl, folder, async (engine) => {
    const { stdout: sql } = await engine.diff({
      from: latest
        ? {
            tag: "schemaDatamodel",
            files: [await schemaFile(join(migrations, latest, "schema.prisma"))],
          }
        : { tag: "empty" },
      to: { tag: "schemaDatamodel", files: [target] },
      script: true,
      exitCode: null,
      filters: noFilters,
    });
    if (!sql?.trim() || sql.includes("This is an empty migration")) return undefined;
    const timestamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
    const created = join(migrations, `${timestamp}_${name}`);
    await mkdir(created);
    await writeFile(join(created, "migration.sql"), sql);
    await writeFile(join(created, "schema.prisma"), target.content);
    return created;
  });
}

async function migrationNames(migrations: string): Promise<string[]> {
  const entries = await readdir(migrations, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted();
}

/** All there are, in the order in which they apply. */
export async function readMigrations(folder = prismaFolder): Promise<{ name: string; sql: string }[]> {
  const migrations = join(folder, "migrations");
  return Promise.all(
    (await migrationNames(migrations)).map(async (name) => ({
      name,
      sql: await readFile(join(migrations, name, "migration.sql"), "utf8"),
    })),
  );
}
