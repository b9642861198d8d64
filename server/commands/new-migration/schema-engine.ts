// Prisma's schema engine as WebAssembly, for development only: it writes migrations, and needs no binary to be downloaded.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";
import { readMigrations } from "../../database/migrations.ts";
import { projectRoot } from "../../project-root.ts";

/**
 * Writes a migration that leads from the schema of the latest one to prisma/schema.prisma. Each migration keeps
 * the schema it leads to beside its SQL: the engine cannot read a schema back from SQL through a driver adapter.
 * @param databaseUrl of any database; the engine insists on a connection.
 * @returns the new migration's folder, or undefined if the schema has not changed.
 */
export async function writeMigration(
  databaseUrl: string,
  name: string,
  prismaFolder = join(projectRoot, "prisma"),
): Promise<string | undefined> {
  const migrations = join(prismaFolder, "migrations");
  const latest = (await readMigrations(migrations)).at(-1);
  const before = latest ? await readSchema(join(migrations, latest.name, "schema.prisma")) : undefined;
  const schema = await readSchema(join(prismaFolder, "schema.prisma"));
  const engine = await startSchemaEngine(new PrismaPg({ connectionString: databaseUrl }), schema.content);
  const { stdout: sql } = await engine.diff({
    from: before ? { tag: "schemaDatamodel", files: [before] } : { tag: "empty" },
    to: { tag: "schemaDatamodel", files: [schema] },
    script: true,
    exitCode: null,
    filters: { externalTables: [], externalEnums: [] },
  });
  if (!sql?.trim() || sql.includes("This is an empty migration")) return undefined;
  const timestamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  const created = join(migrations, `${timestamp}_${name}`);
  await mkdir(created);
  await writeFile(join(created, "migration.sql"), sql);
  await writeFile(join(created, "schema.prisma"), schema.content);
  return created;
}

async function readSchema(path: string): Promise<bindings.SchemaContainer> {
  return { path, content: await readFile(path, "utf8") };
}

/** Starts an engine that is connected to the adapter's database. */
export async function startSchemaEngine(adapter: PrismaPg, schema: string): Promise<bindings.SchemaEngine> {
  await (instantiated ??= instantiate());
  const datamodels: [string, string][] = [["schema.prisma", schema]];
  return bindings.SchemaEngine.new({ datamodels }, () => undefined, bindMigrationAwareSqlAdapterFactory(adapter));
}

/** The bindings work with one instance. */
let instantiated: Promise<void> | undefined;

async function instantiate(): Promise<void> {
  const javascript = createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm/schema_engine_bg");
  const { instance } = await WebAssembly.instantiate(await readFile(javascript.replace(/\.js$/, ".wasm")), {
    "./schema_engine_bg.js": bindings as unknown as WebAssembly.ModuleImports,
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
}
