// The HTTP server around the app: listens, and stops without dropping a request that is under way.
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { OperatorError } from "./operator-error.ts";

/** How long requests under way may take once the server stops, in milliseconds. */
export const gracePeriod = 10_000;
/** How long a client may take to send its request; a sign-up is a few kilobytes. In milliseconds. */
const requestTimeout = 30_000;

export interface HttpServer {
  server: Server;
  handle(listener: RequestListener): void;
  /**
   * @returns the port, which the system chose where 0 was asked for.
   * @throws OperatorError where the address cannot be had.
   */
  listen(host: string, port: number): Promise<number>;
  /** No new connections and no kept ones; requests under way get the grace period. */
  close(): Promise<void>;
}

export function createHttpServer(): HttpServer {
  const server = createServer({ requestTimeout });
  const sockets = new Set<Socket>();
  const responses = new Set<ServerResponse>();
  let closing = false;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", (_req, res) => {
    responses.add(res);
    res.once("close", () => responses.delete(res));
    if (closing) res.shouldKeepAlive = false;
  });
  return {
    server,
    handle: (listener) => server.on("request", (req, res) => listener(withValidTarget(req), res)),
    listen: (host, port) => listen(server, host, port),
    close: async () => {
      closing = true;
      const closed = new Promise((done) => server.close(done));
      const busy = new Set([...responses].map((res) => res.socket));
      // Kept for a next request, opened in advance, or turned into a WebSocket: none is a request under way.
      for (const socket of sockets) if (!busy.has(socket)) socket.destroy();
      // Said with the answer, so that the client does not send its next request into a closed connection.
      for (const res of responses) res.shouldKeepAlive = false;
      const deadline = setTimeout(() => server.closeAllConnections(), gracePeriod);
      await closed;
      clearTimeout(deadline);
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    throw new OperatorError(explain((error as NodeJS.ErrnoException).code ?? "", host, port), { cause: error });
  }
  return (server.address() as AddressInfo).port;
}

/** Gives a request target that is no address an unknown one: Express would answer it past every middleware. */
function withValidTarget(req: IncomingMessage): IncomingMessage {
  if (!URL.canParse(req.url ?? "", "http://localhost")) req.url = "/invalid-request-target";
  return req;
}

function explain(code: string, host: string, port: number): string {
  if (code === "EADDRINUSE") {
    const other = port < 65_535 ? port + 1 : 3000;
    return `Port ${port} is taken by another program. Stop that one, or choose another port, for example PORT=${other}`;
  }
  if (code === "EACCES") {
    return `Port ${port} needs more rights than this account has. Choose one above 1023, for example PORT=3000`;
  }
  return `Cannot listen on HOST=${host} (${code}). Choose an address of this machine, for example HOST=127.0.0.1`;
}
