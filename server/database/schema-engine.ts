// Prisma's own schema engine, run in this process as WebAssembly: no engine binary to download or to ship.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";
import pg from "pg";
import { projectRoot } from "../project-root.ts";

const prismaFolder = join(projectRoot, "prisma");

/** Nothing in the schema is managed by somebody else. */
const filters = { externalTables: [], externalEnums: [] };

/**
 * What `prisma migrate deploy` does, with the same bookkeeping table: applies the migrations that the database lacks.
 * @returns the names of those it applied.
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
  return withEngine(ownerUrl, folder, async (engine, scripts) => {
    try {
      return (await engine.applyMigrations({ migrationsList, filters })).appliedMigrationNames;
    } catch (error) {
      if (!scripts.failure) throw error;
      // It was rolled back as a whole, so the mended one may be tried again.
      const name = /migration_name="([^"]+)"/.exec(String(error))?.[1] ?? "";
      await engine.markMigrationRolledBack({ migrationName: name });
      throw new Error(`Migration ${name} failed: ${scripts.failure.message}`, { cause: error });
    }
  });
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
      filters,
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

async function schemaFile(path: string): Promise<bindings.SchemaContainer> {
  return { path, content: await readFile(path, "utf8") };
}

/**
 * Sends a migration as one script, which Postgres runs as one transaction. Prisma's adapter cuts it at every
 * semicolon, also at those inside strings and function bodies, and leaves half of a failed one behind.
 */
class WholeScripts extends PrismaPg {
  failure: Error | undefined;

  override async connect() {
    const connection = await super.connect();
    connection.executeScript = async (script) => {
      try {
        await connection.underlyingDriver().query(script);
      } catch (error) {
        this.failure = error as Error;
        throw error;
      }
    };
    return connection;
  }
}

async function withEngine<T>(
  url: string,
  folder: string,
  use: (engine: bindings.SchemaEngine, scripts: WholeScripts) => Promise<T>,
): Promise<T> {
  await instantiate();
  const { path, content } = await schemaFile(join(folder, "schema.prisma"));
  // Ended below: the engine keeps a lock on its session, which would make the next one wait.
  const pool = new pg.Pool({ connectionString: url, lock_timeout: 5_000 });
  pool.on("error", () => undefined); // The call under way rejects with the same error.
  const scripts = new WholeScripts(pool);
  try {
    const adapter = bindMigrationAwareSqlAdapterFactory(scripts);
    const engine = await bindings.SchemaEngine.new({ datamodels: [[path, content]] }, () => undefined, adapter);
    return await use(engine, scripts);
  } finally {
    await pool.end();
  }
}

let instantiated: Promise<void> | undefined;

function instantiate(): Promise<void> {
  instantiated ??= (async () => {
    // The build puts the file beside the bundle; the sources take it from the package.
    const bundled = fileURLToPath(new URL("schema_engine_bg.wasm", import.meta.url));
    const inPackage = () => createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm/schema_engine_bg");
    const file = existsSync(bundled) ? bundled : inPackage().replace(/\.js$/, ".wasm");
    const { instance } = await WebAssembly.instantiate(await readFile(file), {
      "./schema_engine_bg.js": bindings as unknown as WebAssembly.ModuleImports,
    });
    bindings.__wbg_set_wasm(instance.exports);
    (instance.exports.__wbindgen_start as () => void)();
  })();
  return instantiated;
}
