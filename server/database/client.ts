// A connection for migrations, commands and the worker, and what it says when Postgres refuses it.
import pg from "pg";
import { OperatorError } from "../operator-messages.ts";

const connectionTimeoutMs = 5_000;
const lockTimeoutMs = 5_000;

/**
 * Opens a connection that waits at most 5 s for a lock. Statements must name the schema of all objects but Postgres' own: in
 * a schema in which others may create objects, an overloaded function would run with the owner's rights.
 * @throws OperatorError if Postgres refuses the connection, or its certificate is not trusted; otherwise the driver's error.
 */
export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectionTimeoutMs,
    lock_timeout: lockTimeoutMs,
  });
  client.on("error", () => undefined); // The query under way rejects with the same error.
  try {
    await client.connect();
    await client.query("SET search_path = pg_catalog, pg_temp");
  } catch (error) {
    const refusal = describeRefusal(error as { code?: string; message: string }, new URL(url));
    throw refusal ? new OperatorError(refusal) : error;
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
    const hint = url.searchParams.has("sslmode")
      ? ""
      : " Where it insists on TLS, end its URL with ?sslmode=verify-full.";
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
