// The site's connections to Postgres, through Prisma. Their time limits are in time-limits.ts.
import { PrismaPg } from "@prisma/adapter-pg";
import type { Logger } from "pino";
import { errorFields } from "../errors.ts";
import { within, poolSize, timeLimits } from "../config/time-limits.ts";
import { type Prisma, PrismaClient } from "./generated/client.ts";

export type Database = ReturnType<typeof connect>;

/** Lost connections are logged. @param isAllowed false refuses each statement. */
export function connect(webUrl: string, log: Logger, isAllowed = () => true) {
  const connections = {
    connectionString: webUrl,
    application_name: "perennial-web",
    keepAlive: true,
    max: poolSize,
    connectionTimeoutMillis: timeLimits.statement,
    query_timeout: timeLimits.statement,
    // A statement that outlived its client would hold a connection, and might store the entry after all.
    statement_timeout: timeLimits.statement - 50,
  };
  const logLost = (error: Error) => log.warn({ error: errorFields(error) }, "database connection lost");
  const adapter = new PrismaPg(connections, { onPoolError: logLost, onConnectionError: logLost });
  const prisma = new PrismaClient({ adapter, errorFormat: "minimal" });
  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (!isAllowed()) throw Object.assign(new Error("The database is not accepted"), { code: "DATABASE_NOT_ACCEPTED" });
    return within(timeLimits.statement, work());
  }
  return {
    execute: (statement: Prisma.Sql) => run(() => prisma.$executeRaw(statement)),
    query: <Row>(statement: Prisma.Sql) => run(() => prisma.$queryRaw<Row[]>(statement)),
    close: () => prisma.$disconnect(),
  };
}
