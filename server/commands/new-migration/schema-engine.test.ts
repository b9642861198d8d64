// Prisma's schema engine: the migrations that it writes, and databases that it and the site migrate in turn.
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import type { SchemaEngine } from "@prisma/schema-engine-wasm/schema_engine_bg";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { withClient } from "../../../tests/support/query.ts";
import { applyMigrations, compareMigrations, migrationLock, readMigrations } from "../../database/migrations.ts";
import { projectRoot } from "../../project-root.ts";
import { startSchemaEngine, writeMigration } from "./schema-engine.ts";

const schemaFile = join(projectRoot, "prisma/schema.prisma");
const migrationsFolder = join(projectRoot, "prisma/migrations");
const migrations = await readMigrations();
const names = migrations.map(({ name }) => name);

let database: TestDatabase;

beforeEach(async () => {
  database = await createEmptyDatabase();
});

afterEach(() => database.drop());

/** Sends a migration as one script, as the engine's binary does. Prisma's adapter cuts it at every semicolon. */
class WholeScripts extends PrismaPg {
  override async connect() {
    const connection = await super.connect();
    connection.executeScript = async (script) => void (await connection.underlyingDriver().query(script));
    return connection;
  }
}

/** The engine keeps its advisory lock until its connections end. */
async function withEngine<T>(use: (engine: SchemaEngine) => Promise<T>): Promise<T> {
  const pool = new pg.Pool({ connectionString: database.ownerUrl });
  try {
    return await use(await startSchemaEngine(new WholeScripts(pool), await readFile(schemaFile, "utf8")));
  } finally {
    await pool.end();
  }
}

async function input(some: typeof migrations) {
  const lockfile = "migration_lock.toml";
  const migrationsList = {
    baseDir: migrationsFolder,
    lockfile: { path: lockfile, content: await readFile(join(migrationsFolder, lockfile), "utf8") },
    shadowDbInitScript: "",
    migrationDirectories: some.map(({ name, sql }) => ({
      path: name,
      migrationFile: { path: "migration.sql", content: { tag: "ok" as const, value: sql } },
    })),
  };
  const { rows } = await withClient(database.ownerUrl, (client) =>
    client.query<{ name: string }>("SELECT 'public.' || tablename AS name FROM pg_tables WHERE tablename ~ '^early'"),
  );
  return { migrationsList, filters: { externalTables: rows.map(({ name }) => name), externalEnums: [] } };
}

/** What `prisma migrate deploy` does. */
const deploy = (some = migrations) =>
  withEngine(async (engine) => (await engine.applyMigrations(await input(some))).appliedMigrationNames);

/** What `prisma migrate status` reads. */
const readStatus = () =>
  withEngine(async (engine) =>
    engine.diagnoseMigrationHistory({ ...(await input(migrations)), optInToShadowDatabase: false }),
  );

const apply = (folder?: string) => withClient(database.ownerUrl, (owner) => applyMigrations(owner, folder));
const compare = () => withClient(database.ownerUrl, (owner) => compareMigrations(owner));

/** A copy of prisma/ in a temporary folder. */
async function withCopy(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-prisma-"));
  await cp(join(projectRoot, "prisma"), folder, { recursive: true });
  await use(folder).finally(() => rm(folder, { recursive: true }));
}

/** The columns of Prisma's table and all its values but random ones and times. */
async function describeTable() {
  const columns = await database.query(
    `SELECT attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, attrelid), indexrelid::regclass::text
     FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
       LEFT JOIN pg_index ON indrelid = attrelid AND attnum = ANY (indkey)
     WHERE attrelid = '_prisma_migrations'::regclass AND attnum > 0 ORDER BY attnum`,
  );
  const records = await database.query(
    `SELECT migration_name, checksum, logs, rolled_back_at, applied_steps_count, finished_at >= started_at AS finished, length(id)
     FROM _prisma_migrations ORDER BY started_at`,
  );
  return { columns, records };
}

describe("the site and `prisma migrate deploy`", () => {
  const [first, second] = [migrations.slice(0, 3), names.slice(3)];
  const upToDate = { editedMigrationNames: [], failedMigrationNames: [], hasMigrationsTable: true, history: null };

  it("record the same, and each finds nothing to do after the other", async () => {
    expect(await deploy()).toEqual(names);
    const deployed = await describeTable();
    expect(deployed.records).toHaveLength(names.length);
    expect(await compare()).toEqual({ pending: [], changed: [] });
    expect(await apply()).toEqual([]);
    await database.query("DROP OWNED BY CURRENT_USER; GRANT ALL ON SCHEMA public TO CURRENT_USER");
    expect(await apply()).toEqual(names);
    expect(await describeTable()).toEqual(deployed);
    expect(await readStatus()).toMatchObject(upToDate);
    expect(await deploy()).toEqual([]);
  });

  it("continue where the other stopped", async () => {
    expect(await deploy(first)).toEqual(names.slice(0, 3));
    expect(await apply()).toEqual(second);
    expect(await readStatus()).toMatchObject(upToDate);
  });

  it("continue where the other stopped, the other way round", () =>
    withCopy(async (folder) => {
      for (const name of second) await rm(join(folder, "migrations", name), { recursive: true });
      expect(await apply(join(folder, "migrations"))).toEqual(names.slice(0, 3));
      expect(await deploy()).toEqual(second);
      expect(await compare()).toEqual({ pending: [], changed: [] });
    }));

  it("use the same lock", () =>
    withEngine(async (engine) => {
      await engine.applyMigrations(await input(migrations));
      const locks = await database.query(
        `SELECT objid::int AS key FROM pg_locks JOIN pg_database d ON d.oid = database
         WHERE locktype = 'advisory' AND datname = current_database()`,
      );
      expect(locks).toEqual([{ key: migrationLock }]);
    }));
});

describe("a new migration", () => {
  it("is written from what changed in the schema, and leads there", () =>
    withCopy(async (folder) => {
      expect(await writeMigration(database.ownerUrl, "nothing", folder)).toBeUndefined();
      const schema = join(folder, "schema.prisma");
      const before = await readFile(schema, "utf8");
      await writeFile(schema, before.replace("  created_at", '  remark String @default("waiting")\n  created_at'));
      const written = (await writeMigration(database.ownerUrl, "add_remark", folder)) ?? "";
      expect(written).toMatch(/\d{14}_add_remark$/);
      expect(await readFile(join(written, "migration.sql"), "utf8")).toContain('ADD COLUMN     "remark" TEXT');
      await apply(join(folder, "migrations"));
      expect(await database.query("SELECT remark FROM earlyaccess")).toEqual([]);
      expect(await writeMigration(database.ownerUrl, "nothing", folder)).toBeUndefined();
    }));

  it("is not missing for the schema as it is", async () => {
    const latest = join(migrationsFolder, names.at(-1) ?? "", "schema.prisma");
    expect(await readFile(latest, "utf8")).toBe(await readFile(schemaFile, "utf8"));
  });
});
