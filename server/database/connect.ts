// Single connections to Postgres: for migrations, commands and the worker.
import pg from "pg";
import { readDatabase, readRole } from "../config/database-urls.ts";
import { errorFields, migrateHint, OperatorError, printable } from "../errors.ts";

/** Statements must name schemas: in a schema in which others may create objects, an overloaded function would run with the owner's rights. */
export const searchPath = "search_path = pg_catalog, pg_temp";

/** In milliseconds. */
type Limits = Pick<pg.ClientConfig, "connectionTimeoutMillis" | "query_timeout">;

const begin = `BEGIN; SET LOCAL ${searchPath}; SET LOCAL lock_timeout = '5s'`;

/**
 * Works in a transaction, whose settings end with it: a pooler may give the session to others next. Commits: PgBouncer closes the
 * connection to Postgres of a client that leaves within a transaction, and logs it as unclean.
 */
export async function withTransaction<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  limits?: Limits,
): Promise<T> {
  const workAndCommit = async (client: pg.Client) => {
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  };
  return withConnection(url, workAndCommit, begin, limits);
}

export async function withConnection<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  first?: string,
  limits?: Limits,
): Promise<T> {
  const client = await connectTo(url, first, limits);
  try {
    return await work(client);
  } catch (error) {
    const { code = "" } = errorFields(error);
    if (!/^(?:57P0[12]|CONNECTION_LOST|ECONNRESET|ETIMEDOUT)$/.test(code)) throw error;
    throw new OperatorError("The connection to Postgres was lost.", { cause: error, code });
  } finally {
    await client.end();
  }
}

/**
 * Opens a connection that waits at most 5 s for a lock.
 * @param first its first statement, which sets the search path.
 * @param limits how long it waits for its connection, and for the answer to a statement: by default without end.
 * @throws OperatorError
 */
export async function connectTo(url: string, first = `SET ${searchPath}`, limits: Limits = {}): Promise<pg.Client> {
  const defaults = { connectionTimeoutMillis: 5_000, lock_timeout: 5_000 };
  const client = new pg.Client({ connectionString: url, ...defaults, ...limits });
  client.on("error", () => undefined); // The next statement fails.
  try {
    await client.connect();
    await client.query(first);
  } catch (error) {
    client.end().catch(() => undefined);
    const { code } = errorFields(error);
    const refusal = describeRefusal(error as { code?: string; message: string }, new URL(url));
    if (refusal) throw new OperatorError(refusal, { code });
    // The message of an error with a code may quote the URL.
    const reason = code ?? (error as Error).message;
    throw new OperatorError(`Postgres at ${new URL(url).host} cannot be reached: ${reason}`, { cause: error, code });
  }
  return client;
}

/** Returns undefined if the error is transient. */
function describeRefusal({ code = "", message }: { code?: string; message: string }, url: URL): string | undefined {
  const server = `Postgres at ${url.host}`;
  if (message.includes("unsupported startup parameter")) {
    return `${server} is a pooler that takes no settings of a session (${message}). Name Postgres itself: the site keeps ten connections at most.`;
  }
  // A wrong password, a role that may not log in or connect, a missing database, and errors of poolers. The message names the role or the
  // database.
  if (["28P01", "28000", "3D000", "42501", "08P01", "XX000"].includes(code)) {
    const hint = url.searchParams.has("sslmode") ? "" : " If it requires TLS, end its URL with ?sslmode=verify-full.";
    return `${server} refuses the connection: ${message}.${code === "28000" ? hint : ""}`;
  }
  if (message.includes("does not support SSL")) {
    return `${server} offers no TLS. Enable it there or, if nobody can listen on the way to it, remove sslmode from its URL.`;
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return `${server} shows the certificate of another host (${code}). Name that host in the URL.`;
  }
  if (/CERT|^UNABLE_TO_/.test(code)) {
    return `${server} shows a certificate that is not trusted (${code}). Name the file of its authority: add &sslrootcert=/path/ca.pem to its URL.`;
  }
  return undefined;
}

/** Returns what the role of the URL met when it connected or ran a statement without values, and what to do. */
export function describeFault(error: unknown, url: string): string {
  const { message } = error as Error;
  const { code } = errorFields(error);
  if (code === undefined) return message; // It says what to do.
  // Of a library that the role has set, it repeats the name.
  return `${printable(message.replace(/\.$/, ""))}. ${findCure(code, url)}`;
}

/** A role may change its own password and settings, also after a break-in. */
function findCure(code: string, url: string): string {
  const role = pg.escapeIdentifier(readRole(url).name);
  const inDatabase = `IN DATABASE ${pg.escapeIdentifier(readDatabase(url))}`;
  const alterRole = `as an administrator of Postgres: ALTER ROLE ${role}`;
  const reset = `reset what the role has set, ${alterRole} RESET ALL; ALTER ROLE ${role} ${inDatabase} RESET ALL.`;
  // A missing right, or a library that the server refuses
  if (code === "42501") return `${migrateHint} If the fault stays, ${reset}`;
  // A missing table, column or function
  if (/^(?:42|3F)/.test(code)) return migrateHint;
  if (code.startsWith("28")) {
    return `Correct the URL, or ${alterRole} LOGIN VALID UNTIL 'infinity' PASSWORD 'that of the URL'.`;
  }
  if (code.startsWith("3D")) return "Create the database, or name another in the URL: docs/postgres.md, Requirements.";
  if (code === "53300") return `End idle sessions, raise max_connections, or ${alterRole} CONNECTION LIMIT -1.`;
  // A library, a time limit, or a transaction that may not write
  if (/^(?:22|25|57014|58)/.test(code)) {
    return `If this server is the primary, ${reset}`;
  }
  return "See docs/incident.md, Error codes.";
}
