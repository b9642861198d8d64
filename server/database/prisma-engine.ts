// Runs Prisma's schema engine in this process, as WebAssembly: no engine binary to download or to ship.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";
import pg from "pg";

export async function schemaFile(path: string): Promise<bindings.SchemaContainer> {
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

/** Calls `use` with an engine for the folder's schema.prisma that is connected to the database. */
export async function withEngine<T>(
  url: string,
  folder: string,
  use: (engine: bindings.SchemaEngine, scripts: WholeScripts, pool: pg.Pool) => Promise<T>,
): Promise<T> {
  await instantiate();
  const { path, content } = await schemaFile(join(folder, "schema.prisma"));
  // Ended below: the engine keeps a lock on its session, which would make the next one wait.
  const pool = new pg.Pool({
    connectionString: url,
    lock_timeout: 5_000,
    // Migrations name tables without a schema, and the database or the role may have another search_path.
    onConnect: async (client) => void (await client.query("SET search_path = public")),
  });
  pool.on("error", () => undefined); // The call under way rejects with the same error.
  const scripts = new WholeScripts(pool);
  try {
    const adapter = bindMigrationAwareSqlAdapterFactory(scripts);
    const engine = await bindings.SchemaEngine.new({ datamodels: [[path, content]] }, () => undefined, adapter);
    return await use(engine, scripts, pool);
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
