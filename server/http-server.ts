// The HTTP server around the app: listens, and stops without dropping a request that is under way.
import { createServer, IncomingMessage, ServerResponse, type Server } from "node:http";
import { Server as NetServer, type AddressInfo, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { App } from "./app.ts";
import { answerClientErrors } from "./client-errors.ts";
import { OperatorError } from "./operator-error.ts";
import { maxHeadersCount } from "./request-headers.ts";
import { isSent } from "./sent-response.ts";
import { dropStalledReaders } from "./stalled-readers.ts";
import { directTimeouts } from "./timeouts.ts";

/** How long requests under way may take once the server stops, in milliseconds. */
export const gracePeriod = 10_000;
/**
 * How many requests a client may send ahead of their answers; no browser sends any. Node makes all that arrive together at once,
 * keeps them until they are read, and serves nobody else meanwhile: without a limit, thousands and 7 MB for each connection.
 */
const mostAhead = 50;

interface Connection {
  latest: ServerResponse | undefined;
  /** How many requests came in a row while an answer was not sent. */
  ahead: number;
  /** After its latest response. */
  ends: boolean;
}

export interface HttpServer {
  server: Server;
  handle(app: App): void;
  /**
   * @returns the port, which the system chose where 0 was asked for.
   * @throws OperatorError where the address cannot be had.
   */
  listen(host: string, port: number): Promise<number>;
  /** Stops listening, closes idle connections after a short delay, and gives requests under way the grace period. */
  close(): Promise<void>;
}

export function createHttpServer(timeouts = directTimeouts): HttpServer {
  // Express gives every message its own prototype, and V8 forgets what it learned of an object whose prototype
  // changes: that cost two thirds of the throughput. Messages that are born with the prototype keep it.
  class Request extends IncomingMessage {}
  class Response extends ServerResponse<Request> {}
  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: timeouts.check,
    keepAliveTimeout: timeouts.kept,
    requireHostHeader: false, // The app refuses it.
    IncomingMessage: Request,
    ServerResponse: Response,
  });
  server.maxHeadersCount = maxHeadersCount;
  dropStalledReaders(server, timeouts);
  const connections = new Map<Socket, Connection>();
  let closing = false;
  /** How many connections there have been. */
  let accepted = 0;
  server.on("connection", (socket) => {
    accepted++;
    connections.set(socket, { latest: undefined, ahead: 0, ends: false });
    socket.once("close", () => connections.delete(socket));
  });
  return {
    server,
    handle: (app) => {
      app.express.request = inherit(Request.prototype, app.express.request);
      app.express.response = inherit(Response.prototype, app.express.response);
      server.on("request", (req, res) => {
        const connection = connections.get(req.socket);
        if (!connection || connection.ends) return; // RFC 9112, section 9.6: what comes after the last request is not processed.
        connection.ahead = connection.latest && !isSent(connection.latest) ? connection.ahead + 1 : 0;
        connection.latest = res;
        // A client that does not read its responses gets no more of them.
        if (closing || connection.ahead === mostAhead || req.socket.writableNeedDrain) {
          connection.ends = true;
          res.shouldKeepAlive = false;
          forgetMore(req.socket);
        }
        app(req, res);
      });
      // RFC 9110 lets a server ignore an expectation that it does not know.
      server.on("checkExpectation", (req, res) => server.emit("request", req, res));
      answerClientErrors(server, app.headers, (socket) => connections.get(socket)?.latest);
    },
    listen: (host, port) => listen(server, host, port),
    close: async () => {
      await acceptWaiting(() => accepted);
      closing = true; // From now on, as a client that is told so connects anew.
      // The close() of node:http would also close idle connections, at once.
      const closed = new Promise((done) => NetServer.prototype.close.call(server, done));
      for (const { latest } of connections.values()) if (latest && !isSent(latest)) latest.shouldKeepAlive = false;
      await Promise.race([closed, sleep(timeouts.stopping)]);
      // Kept for a next request, opened in advance, or turned into a WebSocket: none is a request under way.
      for (const [socket, { latest }] of connections) {
        if (!latest || isSent(latest)) socket.destroy();
        else latest.once("close", () => socket.end());
      }
      const deadline = setTimeout(() => server.closeAllConnections(), gracePeriod);
      await closed;
      clearTimeout(deadline);
    },
  };
}

/**
 * Waits until Node has accepted the connections that wait already, one in each turn of the event loop: the system resets
 * them when the server stops listening. Bounded, as clients may connect faster than that.
 */
async function acceptWaiting(countAccepted: () => number): Promise<void> {
  for (let turns = 0, quiet = 0; quiet < 2 && turns < 50; turns++) {
    const before = countAccepted();
    await nextTurn();
    quiet = countAccepted() === before ? quiet + 1 : 0;
  }
}

/**
 * Node makes a request and a response of all that it has received, and keeps those that are ignored, too, until the
 * connection is closed: hundreds of megabytes in a flood. Its parser is no public interface; without it, only that is lost.
 */
function forgetMore(socket: Socket): void {
  const { parser } = socket as Socket & { parser?: { onIncoming?: () => number } };
  if (parser) parser.onIncoming = () => 0;
}

/**
 * @param variable what chooses the port, for the message where it cannot be had.
 * @returns the port, which the system chose where 0 was asked for.
 * @throws OperatorError where the address cannot be had.
 */
export async function listen(server: Server, host: string, port: number, variable = "PORT"): Promise<number> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    throw new OperatorError(explain((error as NodeJS.ErrnoException).code ?? "", host, port, variable), {
      cause: error,
    });
  }
  // Where the system cannot accept a connection, say for want of memory, that one is lost; uncaught it would end the process.
  server.on("error", () => undefined);
  return (server.address() as AddressInfo).port;
}

function inherit<T extends object>(prototype: object, parent: T): T {
  return Object.setPrototypeOf(prototype, parent) as T;
}

function explain(code: string, host: string, port: number, variable: string): string {
  if (code === "EADDRINUSE") {
    const other = port < 65_535 ? port + 1 : 3000;
    return `Port ${port} is taken by another program. Stop that one, or choose another port, for example ${variable}=${other}`;
  }
  if (code === "EACCES") {
    return `Port ${port} needs more rights than this account has. Choose one above 1023, for example ${variable}=${variable === "PORT" ? 3000 : 9464}`;
  }
  return `Cannot listen on HOST=${host} (${code}). Choose an address of this machine, for example HOST=127.0.0.1`;
}
