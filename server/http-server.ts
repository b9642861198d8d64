// The HTTP server around the app: listens, and stops without dropping a request that is under way.
import { createServer, IncomingMessage, ServerResponse, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { App } from "./app.ts";
import { OperatorError } from "./operator-error.ts";

/** How long requests under way may take once the server stops, in milliseconds. */
export const gracePeriod = 10_000;
/** How long a client may take to send its request; a sign-up is a few kilobytes. In milliseconds. */
const requestTimeout = 30_000;

export interface HttpServer {
  server: Server;
  handle(app: App): void;
  /**
   * @returns the port, which the system chose where 0 was asked for.
   * @throws OperatorError where the address cannot be had.
   */
  listen(host: string, port: number): Promise<number>;
  /** No new connections and no kept ones; requests under way get the grace period. */
  close(): Promise<void>;
}

export function createHttpServer(): HttpServer {
  // Express gives every message its own prototype, and V8 forgets what it learned of an object whose prototype
  // changes: that cost two thirds of the throughput. Messages that are born with the prototype keep it.
  class Request extends IncomingMessage {}
  class Response extends ServerResponse<Request> {}
  const server = createServer({ requestTimeout, IncomingMessage: Request, ServerResponse: Response });
  /** Every open connection, with the latest response on it. */
  const latest = new Map<Socket, ServerResponse | undefined>();
  let closing = false;
  server.on("connection", (socket) => {
    latest.set(socket, undefined);
    socket.once("close", () => latest.delete(socket));
  });
  return {
    server,
    handle: (app) => {
      app.express.request = inherit(Request.prototype, app.express.request);
      app.express.response = inherit(Response.prototype, app.express.response);
      server.on("request", (req, res) => {
        latest.set(req.socket, res);
        if (closing) res.shouldKeepAlive = false;
        app(req, res);
      });
    },
    listen: (host, port) => listen(server, host, port),
    close: async () => {
      closing = true;
      const closed = new Promise((done) => server.close(done));
      for (const [socket, res] of latest) {
        // Said with the answer, so that the client does not send its next request into a closed connection.
        if (res && !res.writableFinished) res.shouldKeepAlive = false;
        // Kept for a next request, opened in advance, or turned into a WebSocket: none is a request under way.
        else socket.destroy();
      }
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

function inherit<T extends object>(prototype: object, parent: T): T {
  return Object.setPrototypeOf(prototype, parent) as T;
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
