// The site's pool of connections, which Prisma uses.
import pg from "pg";
import type { Logger } from "pino";
import { errorFields, within } from "../errors.ts";

/** For a statement or a connection, in milliseconds: few, so that a sign-up can leave a dead connection before its deadline. */
const statementMs = 2_000;

export type Database = ReturnType<typeof connect>;

export function createPool(webUrl: string): pg.Pool {
  return new pg.Pool({
    connectionString: webUrl,
    application_name: "perennial-web",
    keepAlive: true,
    connectionTimeoutMillis: statementMs,
    query_timeout: statementMs,
    // A statement that outlived its client would hold a connection, and might store the entry after all.
    statement_timeout: statementMs - 50,
    // For the table. Statements that take a turn (models/equal-response-time.ts) set their own for entries.
    lock_timeout: 400,
  });
}

/** Prisma is loaded by the first statement; lost connections are logged. */
export function connect(pool: pg.Pool, log: Logger) {
  const logLost = (error: Error) => log.warn({ error: errorFields(error) }, "database connection lost");
  let client: ReturnType<typeof createClient> | undefined;
  const load = () => (client ??= createClient(pool, logLost));
  return {
    /** Returns the number of rows that the statement changed. */
    execute: async (statement: string, ...parameters: unknown[]) =>
      within(statementMs, (await load()).$executeRawUnsafe(statement, ...parameters)),
    query: async (statement: string, ...parameters: unknown[]) =>
      within(statementMs, (await load()).$queryRawUnsafe<Record<string, unknown>[]>(statement, ...parameters)),
    close: async () => {
      await (await client)?.$disconnect();
      await pool.end();
    },
  };
}

/** Loads Prisma, which commands, migrations and the worker do not need. */
async function createClient(pool: pg.Pool, logLost: (error: Error) => void) {
  const [{ PrismaPg }, { PrismaClient }] = await Promise.all([
    import("@prisma/adapter-pg"),
    import("./generated/client.ts"),
  ]);
  const adapter = new PrismaPg(pool, { onPoolError: logLost, onConnectionError: logLost });
  return new PrismaClient({ adapter, errorFormat: "minimal" });
}
