// Connections to Postgres: the choice of the database, the site's pool, which Prisma uses, and single connections for everything else.
import { join } from "node:path";
import pg from "pg";
import type { Logger } from "pino";
import { loadConfig, type Config } from "../config.ts";
import { errorFields } from "../logger.ts";
import { OperatorError } from "../operator-messages.ts";
import { projectRoot } from "../project-root.ts";
import { openEmbedded } from "./embedded/embedded.ts";
import { workerTasks, type DatabaseUrls } from "./roles.ts";

export interface OpenedDatabase extends DatabaseUrls {
  /** Where the embedded Postgres keeps its data. */
  directory?: string;
  release(): Promise<void>;
}

/** Opens the database of the configuration, or the embedded one. */
export async function openDatabase(config: Config): Promise<OpenedDatabase> {
  const { databaseUrl: webUrl, databaseOwnerUrl: ownerUrl, databaseAdminUrl: adminUrl, erasureKey } = config;
  const opened: OpenedDatabase = webUrl
    ? { webUrl, ownerUrl: ownerUrl ?? webUrl, ...(adminUrl && { adminUrl }), release: async () => undefined }
    : await openEmbedded(join(projectRoot, ".data"));
  const wanted = { webhook: config.webhookUrl, mail: config.mailFrom, purge: config.retentionMonths > 0 };
  const tasks = workerTasks.filter((task) => wanted[task]);
  return {
    ...opened,
    ...(tasks.length > 0 && { worker: { url: config.workerDatabaseUrl ?? opened.ownerUrl, tasks } }),
    ...(erasureKey && { erasureKey }),
  };
}

/** Opens the configured database for the work, and releases it afterwards. */
export async function withDatabase(work: (database: OpenedDatabase, config: Config) => Promise<void>): Promise<void> {
  const config = loadConfig();
  const database = await openDatabase(config);
  try {
    await work(database, config);
  } finally {
    await database.release();
  }
}

export type Pool = pg.Pool;

/** In milliseconds, for a statement of the site and its wait for a connection: sign-ups that wait behind a dead one have time for another. */
const statementMs = 2_000;

const siteTimeouts = {
  connectionTimeoutMillis: statementMs,
  query_timeout: statementMs,
  /** A statement that outlived its client would hold a connection, and might store the entry after all. */
  statement_timeout: statementMs - 50,
  /** For the table. The statements of batch.ts set their own for their turn. */
  lock_timeout: 400,
};

/** In milliseconds, for migrations, commands and the worker. */
const commandTimeouts = { connectionTimeoutMillis: 5_000, lock_timeout: 5_000 };

export interface Database {
  /** Runs a statement with parameters ($1, $2, …). Returns the number of rows that it changed. */
  execute: (statement: string, ...parameters: unknown[]) => Promise<number>;
  /** Runs a statement with parameters. Returns the rows that it selected. */
  query: (statement: string, ...parameters: unknown[]) => Promise<Record<string, unknown>[]>;
  /** Closes the pool. */
  close: () => Promise<void>;
}

/** Rejects with QUERY_TIMEOUT if the work takes longer. The work goes on. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(Object.assign(new Error("Postgres takes too long"), { code: "QUERY_TIMEOUT" })),
      ms,
    );
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Opens no connection before the first one is needed. */
export function createPool(webUrl: string): Pool {
  return new pg.Pool({ connectionString: webUrl, ...siteTimeouts, keepAlive: true, application_name: "perennial-web" });
}

/** Returns a Database that uses the pool. Prisma is loaded by the first statement; lost connections are logged. */
export function connect(pool: Pool, log: Logger): Database {
  const logLost = (error: Error) => log.warn({ error: errorFields(error) }, "database connection lost");
  let client: ReturnType<typeof createClient> | undefined;
  const load = () => (client ??= createClient(pool, logLost));
  return {
    execute: async (statement, ...parameters) => {
      const prisma = await load();
      return within(statementMs, prisma.$executeRawUnsafe(statement, ...parameters));
    },
    query: async (statement, ...parameters) => {
      const prisma = await load();
      return within(statementMs, prisma.$queryRawUnsafe(statement, ...parameters));
    },
    close: async () => {
      await (await client)?.$disconnect();
      await pool.end();
    },
  };
}

/** Loads Prisma, which commands, migrations and the worker do not need. */
async function createClient(pool: Pool, logLost: (error: Error) => void) {
  const [{ PrismaPg }, { PrismaClient }] = await Promise.all([
    import("@prisma/adapter-pg"),
    import("./generated/client.ts"),
  ]);
  const adapter = new PrismaPg(pool, { onPoolError: logLost, onConnectionError: logLost });
  return new PrismaClient({ adapter, errorFormat: "minimal" });
}

/** Postgres cannot be reached, or the connection to it was lost. */
class ConnectionError extends OperatorError {
  override name = "ConnectionError";

  /** @param code of Postgres, the driver or the system. */
  constructor(
    message: string,
    readonly code: string | undefined,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

/** Clients whose connection ended by itself. */
const lostClients = new WeakSet<pg.Client>();

/**
 * Connects, runs the work, and disconnects.
 * @throws the errors of connectTo and of the work; ConnectionError if the work failed because the connection was lost.
 */
export async function withConnection<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectTo(url);
  try {
    return await work(client);
  } catch (error) {
    throw lostClients.has(client) ? describeLoss(error) : error;
  } finally {
    await client.end();
  }
}

/** Returns the error to throw once the connection is lost. The driver's own error may have no code, and then looks permanent. */
export function describeLoss(error: unknown): unknown {
  if (error instanceof OperatorError) return error;
  return new ConnectionError("The connection to Postgres was lost.", "CONNECTION_LOST", error);
}

/**
 * Opens a connection that waits at most 5 s for a lock. Statements must name the schema of all objects but Postgres' own: in
 * a schema in which others may create objects, an overloaded function would run with the owner's rights.
 * @throws OperatorError if Postgres refuses the connection, or its certificate is not trusted; otherwise ConnectionError.
 */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, ...commandTimeouts });
  client.on("error", () => lostClients.add(client));
  try {
    await client.connect();
    await client.query("SET search_path = pg_catalog, pg_temp");
  } catch (error) {
    if (lostClients.has(client)) throw describeLoss(error);
    const refusal = describeRefusal(error as { code?: string; message: string }, new URL(url));
    if (refusal) throw new OperatorError(refusal);
    const { code } = errorFields(error);
    // The message of an error with a code may quote the URL.
    const reason = code ?? (error as Error).message;
    throw new ConnectionError(`Postgres at ${new URL(url).host} cannot be reached: ${reason}`, code, error);
  }
  return client;
}

/** Returns undefined if the error is transient. */
function describeRefusal({ code = "", message }: { code?: string; message: string }, url: URL): string | undefined {
  const server = `Postgres at ${url.host}`;
  const who = `role ${url.username}, database ${url.pathname.slice(1)}.`;
  if (code === "28P01") return `${server} does not accept this role's password: ${who}`;
  if (code === "3D000") return `${server} has no such database: ${who}`;
  if (code === "28000") {
    const hint = url.searchParams.has("sslmode") ? "" : " If it requires TLS, end its URL with ?sslmode=verify-full.";
    return `${server} does not let this role in: ${who}${hint}`;
  }
  if (message.startsWith("The server does not support SSL")) {
    return `${server} does not speak TLS, which sslmode in its URL asks for.`;
  }
  if (message.includes("unsupported startup parameter")) {
    return `${server} is a pooler that takes no settings of a session (${message}). Name Postgres itself: the site keeps ten connections at most.`;
  }
  if (/CERT|^UNABLE_TO_/.test(code)) {
    return `${server} shows a certificate that is not trusted (${code}). Name the file of its authority: add &sslrootcert=/path/ca.pem to its URL.`;
  }
  return undefined;
}
