// Single connections to Postgres: for migrations, commands and the worker.
import pg from "pg";
import { errorFields, OperatorError } from "../errors.ts";

/** Statements must name schemas: in a schema in which others may create objects, an overloaded function would run with the owner's rights. */
export const searchPath = "search_path = pg_catalog, pg_temp";

const begin = `BEGIN; SET LOCAL ${searchPath}; SET LOCAL lock_timeout = '5s'`;

/**
 * Works in a transaction, whose settings end with it: a pooler may give the session to others next. Commits: PgBouncer closes the
 * connection to Postgres of a client that leaves within a transaction, and logs it as unclean.
 */
export async function withTransaction<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const workAndCommit = async (client: pg.Client) => {
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  };
  return withConnection(url, workAndCommit, begin);
}

export async function withConnection<T>(url: string, work: (client: pg.Client) => Promise<T>, first?: string) {
  const client = await connectTo(url, first);
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
 * @throws OperatorError
 */
export async function connectTo(url: string, first = `SET ${searchPath}`): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, lock_timeout: 5_000 });
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
  if (/CERT|^UNABLE_TO_/.test(code)) {
    return `${server} shows a certificate that is not trusted (${code}). Name the file of its authority: add &sslrootcert=/path/ca.pem to its URL.`;
  }
  return undefined;
}
