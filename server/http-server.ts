// Listens, and stops without dropping a request that is under way.
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfigurationError } from "./config.ts";

/** How long requests under way may take once the server stops, in milliseconds. */
const gracePeriod = 10_000;

/**
 * @returns the port, which the system chose where 0 was asked for.
 * @throws ConfigurationError where the address cannot be had.
 */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    throw new ConfigurationError(explain((error as NodeJS.ErrnoException).code ?? "", host, port), { cause: error });
  }
  return (server.address() as AddressInfo).port;
}

function explain(code: string, host: string, port: number): string {
  if (code === "EADDRINUSE") {
    return `Port ${port} is taken by another program. Stop that one, or choose another port, for example PORT=${port + 1}`;
  }
  if (code === "EACCES")
    return `Port ${port} needs more rights than this account has. Choose one above 1023, for example PORT=3000`;
  return `Cannot listen on HOST=${host} (${code}). Choose an address of this machine, for example HOST=127.0.0.1`;
}

/** No new connections; requests under way get the grace period. */
export async function close(server: Server): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  // A connection that becomes idle now would be kept for the next request, which will not be answered.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  const deadline = setTimeout(() => server.closeAllConnections(), gracePeriod);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
}
