// The site's connections to Postgres, through Prisma, and the time limits of what a visitor waits for.
import { PrismaPg } from "@prisma/adapter-pg";
import type { Logger } from "pino";
import { errorFields, within } from "../errors.ts";
import { type Prisma, PrismaClient } from "./generated/client.ts";

/** In milliseconds. The response to a change comes within 5 s. */
export const timeLimits = {
  /** The least time of a change. It hides whether the address was known, which takes Postgres less than a millisecond more or less. */
  floor: 100,
  /** For an entry that another transaction holds: of a batch, whose other changes wait, too; and of one change. */
  lock: 60,
  lockAlone: 1_900,
  /** For a connection and a statement: a sign-up can leave a dead connection before its deadline. */
  statement: 2_000,
  /** For a change from its arrival: a statement of others, its own, and a little more. */
  change: 4_500,
};

export type Database = ReturnType<typeof connect>;

/** Lost connections are logged. @param isAllowed false refuses each statement. */
export function connect(webUrl: string, log: Logger, isAllowed = () => true) {
  const connections = {
    connectionString: webUrl,
    application_name: "perennial-web",
    keepAlive: true,
    connectionTimeoutMillis: timeLimits.statement,
    query_timeout: timeLimits.statement,
    // A statement that outlived its client would hold a connection, and might store the entry after all.
    statement_timeout: timeLimits.statement - 50,
  };
  const logLost = (error: Error) => log.warn({ error: errorFields(error) }, "database connection lost");
  const adapter = new PrismaPg(connections, { onPoolError: logLost, onConnectionError: logLost });
  const prisma = new PrismaClient({ adapter, errorFormat: "minimal" });
  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (!isAllowed()) throw new Error("The database is not ready yet");
    return within(timeLimits.statement, work());
  }
  return {
    /** Returns the number of rows that the statement changed. */
    execute: (statement: Prisma.Sql) => run(() => prisma.$executeRaw(statement)),
    query: <Row>(statement: Prisma.Sql) => run(() => prisma.$queryRaw<Row[]>(statement)),
    close: () => prisma.$disconnect(),
  };
}
