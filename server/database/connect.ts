// The web process's connection pool: Prisma on node-postgres, bounded so that no request waits for long.
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import type { Logger } from "pino";
import { PrismaClient } from "./generated/client.ts";
import { errorFields } from "./error-fields.ts";

export type { PrismaClient } from "./generated/client.ts";
export type Pool = pg.Pool;

/** In milliseconds. An entry is retried for 1.6 s (waitlist-batch.ts); with these its answer comes within 5 s. */
const connectionTimeoutMs = 1_500;
const queryTimeoutMs = 1_750;
/** Postgres gives up first: a statement that outlived its client would hold a connection, and store the entry after all. */
const statementTimeoutMs = 1_500;
/** Short, so that a batch with a locked address is soon split, and the other entries are stored. */
const lockTimeoutMs = 400;

/** Opens no connection before the first is needed. */
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

/** @param database a pool that somebody watches, which ends with the client, or the URL for one. */
export function connect(database: string | Pool, log: Logger): PrismaClient {
  const pool = typeof database === "string" ? createPool(database) : database;
  const lost = (error: Error) => log.warn({ error: errorFields(error) }, "database connection lost");
  const adapter = new PrismaPg(pool, { onPoolError: lost, onConnectionError: lost, disposeExternalPool: true });
  return new PrismaClient({ adapter, errorFormat: "minimal" });
}
