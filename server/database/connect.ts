// The web process's connection pool: Prisma on node-postgres, bounded so that no request waits for long.
import { PrismaPg } from "@prisma/adapter-pg";
import type { Logger } from "pino";
import { PrismaClient } from "./generated/client.ts";
import { errorFields } from "./error-fields.ts";

export type { PrismaClient } from "./generated/client.ts";

/** A sign-up that waits longer is told to try again; with the wait for a connection it stays below 5 s. */
const queryTimeoutMs = 3_000;
/** Postgres gives up first: a statement that outlived its client would hold a connection, and store the entry after all. */
const statementTimeoutMs = 2_500;
const connectionTimeoutMs = 1_500;

export function connect(webUrl: string, log: Logger): PrismaClient {
  const lost = (error: Error) => log.warn({ error: errorFields(error) }, "database connection lost");
  const adapter = new PrismaPg(
    {
      connectionString: webUrl,
      connectionTimeoutMillis: connectionTimeoutMs,
      query_timeout: queryTimeoutMs,
      statement_timeout: statementTimeoutMs,
      keepAlive: true,
      application_name: "perennial-web",
    },
    { onPoolError: lost, onConnectionError: lost },
  );
  return new PrismaClient({ adapter, errorFormat: "minimal" });
}
