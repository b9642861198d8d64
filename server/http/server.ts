// The HTTP server: limits pipelining, and stops without dropping a request that is in progress.
import { createServer, IncomingMessage, ServerResponse, type RequestListener, type Server } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { handleClientErrors } from "./client-errors.ts";
import { listen } from "./listen.ts";
import { toPath } from "./request-target.ts";
import { isSent } from "./sent-response.ts";
import { disconnectSlowReaders } from "./slow-readers.ts";
import { stopParsing } from "./stop-parsing.ts";
import { directTimeouts } from "./timeouts.ts";

/** How long requests in progress may take once the server stops, in milliseconds. */
export const gracePeriodMs = 10_000;
/**
 * How many requests a client may send ahead of their responses. No browser sends any. Node parses all requests of a packet at
 * once: without a limit that is thousands of requests and 7 MB for each connection.
 */
const pipelineLimit = 20;

/** How many headers a request may have. Browsers send about 20, and proxies add a few. 1,900 headers cost as much as seven requests. */
export const headerLimit = 100;

interface Connection {
  latest: ServerResponse | undefined;
  /** The number of requests in a row that came before the response to the previous one was sent. */
  pipelined: number;
  /** The server ignores further requests (RFC 9112, section 9.6). */
  isClosing: boolean;
}

/** What the server serves. */
export interface Application {
  listener: RequestListener;
  /** The prototypes that Express gives to messages. */
  express: { request: object; response: object };
  /** The headers of every response, names and values by turns. */
  headers: readonly string[];
}

export interface HttpServer {
  server: Server;
  serve(application: Application): void;
  /**
   * @returns the port, which the system chooses if `port` is 0.
   * @throws OperatorError if the address cannot be used.
   */
  listen(host: string, port: number): Promise<number>;
  /** Stops listening, closes idle connections after a short delay, and gives requests in progress the grace period. */
  close(): Promise<void>;
}

export function createHttpServer(timeouts = directTimeouts): HttpServer {
  // Express changes the prototype of every message, and V8 then drops its optimisations for the object: a loss of two thirds
  // of the throughput. Messages that are created with Express' prototype keep it.
  class Request extends IncomingMessage {}
  class Response extends ServerResponse<Request> {}
  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: timeouts.check,
    keepAliveTimeout: timeouts.keepAlive,
    requireHostHeader: false, // findHeaderFault requires it.
    IncomingMessage: Request,
    ServerResponse: Response,
  });
  // One more than the limit, so that an excess is seen: Node drops further headers, also those that a proxy appended.
  server.maxHeadersCount = headerLimit + 1;
  disconnectSlowReaders(server, timeouts);
  const connections = new Map<Socket, Connection>();
  let stopping = false;
  let accepted = 0;
  server.on("connection", (socket) => {
    accepted++;
    connections.set(socket, { latest: undefined, pipelined: 0, isClosing: false });
    socket.once("close", () => connections.delete(socket));
  });

  /** Returns whether the request is to be answered. */
  function admit({ socket }: IncomingMessage, res: ServerResponse): boolean {
    const connection = connections.get(socket);
    if (!connection || connection.isClosing) return false;
    connection.pipelined = connection.latest && !isSent(connection.latest) ? connection.pipelined + 1 : 0;
    connection.latest = res;
    const isFlood = connection.pipelined > pipelineLimit;
    // A client that does not read its responses gets no more of them.
    const isLast = stopping || socket.writableNeedDrain;
    if (isFlood) socket.destroy();
    else if (isLast) res.shouldKeepAlive = false;
    connection.isClosing = isFlood || isLast;
    if (connection.isClosing) stopParsing(socket);
    return !isFlood;
  }

  return {
    server,
    serve: ({ listener, express, headers }) => {
      express.request = Object.setPrototypeOf(Request.prototype, express.request) as object;
      express.response = Object.setPrototypeOf(Response.prototype, express.response) as object;
      server.on("request", (req, res) => {
        if (!admit(req, res)) return;
        req.url = toPath(req.url ?? "");
        listener(req, res);
      });
      // RFC 9110 lets a server ignore an expectation that it does not know.
      server.on("checkExpectation", (req, res) => server.emit("request", req, res));
      handleClientErrors(server, headers, (socket) => connections.get(socket)?.latest);
    },
    listen: (host, port) => listen(server, host, port),
    close: async () => {
      await acceptWaiting(() => accepted);
      stopping = true; // Only now: a client that reads "Connection: close" connects again.
      // The close() of node:http would close idle connections at once.
      const closed = new Promise((done) => NetServer.prototype.close.call(server, done));
      for (const { latest } of connections.values()) if (latest && !isSent(latest)) latest.shouldKeepAlive = false;
      await Promise.race([closed, sleep(timeouts.stopping)]);
      // Idle, opened in advance, or upgraded to a WebSocket: there is no request in progress on these.
      for (const [socket, { latest }] of connections) {
        if (!latest || isSent(latest)) socket.destroy();
        else latest.once("close", () => socket.end());
      }
      const deadline = setTimeout(() => server.closeAllConnections(), gracePeriodMs);
      await closed;
      clearTimeout(deadline);
    },
  };
}

/**
 * Waits until Node has accepted all waiting connections, one per turn of the event loop: the system resets them when the
 * server stops listening. Bounded, because clients may connect faster than that.
 */
async function acceptWaiting(countAccepted: () => number): Promise<void> {
  for (let turns = 0, quiet = 0; quiet < 2 && turns < 50; turns++) {
    const before = countAccepted();
    await nextTurn();
    quiet = countAccepted() === before ? quiet + 1 : 0;
  }
}
