// The web process's connections to Postgres: Prisma on a node-postgres pool, with bounded waits.
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import type { Logger } from "pino";
import { PrismaClient } from "./generated/client.ts";
import { errorFields } from "./error-fields.ts";

export type Pool = pg.Pool;

/** In milliseconds. A batch is retried for 1.6 s (batch.ts); with these timeouts its response comes within 5 s. */
const connectionTimeoutMs = 1_500;
const queryTimeoutMs = 1_750;
/** Below the query timeout: a statement that outlived its client would hold a connection, and might store the entry after all. */
const statementTimeoutMs = 1_500;
/** Short, so that a batch with a locked address is soon split and the other entries are stored. */
const lockTimeoutMs = 400;

export interface Database {
  /** Runs a statement with parameters ($1, $2, …). Returns the number of rows that it changed. */
  execute: (statement: string, ...parameters: unknown[]) => Promise<number>;
  /** Runs a statement with parameters. Returns the rows that it selected. */
  query: (statement: string, ...parameters: unknown[]) => Promise<Record<string, unknown>[]>;
  /** Closes the pool. */
  close: () => Promise<void>;
}

/** Opens no connection before the first one is needed. */
export function createPool(webUrl: string): Pool {
  return new pg.Pool({
    connectionString: webUrl,
    connectionTimeoutMillis: connectionTimeoutMs,
    query_timeout: queryTimeoutMs,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    keepAlive: true,
    application_name: "perennial-web",
  });
}

export function connect(pool: Pool, log: Logger): Database {
  const logLost = (error: Error) => log.warn({ error: errorFields(error) }, "database connection lost");
  const adapter = new PrismaPg(pool, { onPoolError: logLost, onConnectionError: logLost, disposeExternalPool: true });
  const prisma = new PrismaClient({ adapter, errorFormat: "minimal" });
  return {
    execute: (statement, ...parameters) => prisma.$executeRawUnsafe(statement, ...parameters),
    query: (statement, ...parameters) => prisma.$queryRawUnsafe(statement, ...parameters),
    close: () => prisma.$disconnect(),
  };
}
