// The HTTP server under Express: timeouts, one request at a time on each connection, and a graceful stop.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setImmediate as nextRound, setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { listen } from "./listen.ts";
import { createMessageClasses, endAfter, isInProgress, nodeHttp, type MessagePrototypes } from "./node-internals.ts";

/** In milliseconds. A phone on a bad line moves 2 KB/s and must not be cut off. */
export const directTimeouts = {
  /** For a request's headers. Browsers send 1 KB; Node accepts 16 KiB. */
  headers: 10_000,
  /** For the whole request. The longest accepted body, 16 KiB, takes 8 s at 2 KB/s. */
  request: 15_000,
  /** The interval of the checks for late requests. Node's default of 30 s would let each last that much longer. */
  check: 1_000,
  /** Without a byte in either direction. A sign-up waits up to 5 s for Postgres. */
  inactivity: 13_000,
  /** For the next request on a connection. */
  keepAlive: 10_000,
  /** For the next request once the server stops; closing at once would reset a request on its way. */
  stopping: 500,
};

/** A proxy must close an idle connection first, or a sign-up becomes a 502. nginx and ALB close after 60 s, Caddy after 120 s. */
export const proxiedTimeouts = { ...directTimeouts, keepAlive: 125_000 };

/** In bytes, of the longest body that is read. The longest valid form is about 8 KB: 654 characters, percent-encoded. */
export const bodyLimit = 16 * 1024;

/** How long requests in progress may take once the server stops, in milliseconds. Windows ends a process 5 s after its console is closed. */
export const gracePeriodMs = process.platform === "win32" ? 2_000 : 10_000;

/** Rounds of the event loop in which Node accepts waiting connections, perhaps one in each. The system resets the others at the stop. */
const acceptRounds = 50;

export interface Application {
  /** @param refusal the status for a request that HTTP forbids. */
  listener: (req: IncomingMessage, res: ServerResponse, refusal?: number) => void;
  express: MessagePrototypes;
}

/** The server answers nothing until `serve` names the application. */
export function createHttpServer(timeouts = directTimeouts) {
  const { Request, Response, useExpressPrototypes } = createMessageClasses();
  const server: Server = nodeHttp.createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: timeouts.check,
    keepAliveTimeout: timeouts.keepAlive,
    // Otherwise Node refuses such a request before it reaches the limit of pipelined requests, the log and the metrics.
    requireHostHeader: false,
    IncomingMessage: Request,
    ServerResponse: Response,
  });
  server.timeout = timeouts.inactivity;
  server.maxHeadersCount = 0; // Otherwise Node drops headers after the 2,000th, also those that a proxy appended.
  /** The latest response of each connection until it is closed, which is later than its last byte. */
  const connections = new Map<Socket, ServerResponse | undefined>();
  let stopping = false;
  server.on("connection", (socket) => {
    connections.set(socket, undefined);
    socket.once("close", () => connections.delete(socket));
  });

  /**
   * Drops a request that arrives before the previous response is sent, and closes the connection after that response. No browser
   * or proxy pipelines, and each request that Express handles holds 8 KB until its response is sent.
   */
  function admit(req: IncomingMessage, res: ServerResponse, refusal?: number): boolean {
    const { socket } = req;
    const latest = connections.get(socket);
    const isClosing = latest?.shouldKeepAlive === false;
    if (latest && (isClosing || isInProgress(latest))) {
      req.resume(); // Otherwise its body stays in memory: up to a packet of 64 KB on each connection.
      endAfter(latest, socket);
      return false;
    }
    connections.set(socket, res);
    // An idle connection holds no request: it would take 18 KB more (Node 24).
    res.once("close", () => connections.get(socket) === res && connections.set(socket, undefined));
    if (stopping || refusal !== undefined || mayHaveLongBody(req)) res.shouldKeepAlive = false;
    return true;
  }

  /** Stops listening, closes idle connections after a short delay, and gives requests in progress the grace period. */
  async function close() {
    for (let round = 0; round < acceptRounds; round++) await nextRound();
    stopping = true; // Only now: a client that reads "Connection: close" connects again.
    // The close() of node:http would close idle connections at once.
    const closed = new Promise((done) => NetServer.prototype.close.call(server, done));
    for (const latest of connections.values()) if (latest && !latest.headersSent) latest.shouldKeepAlive = false;
    await Promise.race([closed, sleep(timeouts.stopping)]);
    for (const [socket, latest] of connections) {
      if (latest && isInProgress(latest)) latest.once("close", () => socket.end());
      else socket.destroy(); // Idle, opened in advance, or upgraded to a WebSocket.
    }
    const deadline = setTimeout(() => server.closeAllConnections(), gracePeriodMs);
    await closed;
    clearTimeout(deadline);
  }

  return {
    server,
    serve: ({ listener, express }: Application) => {
      useExpressPrototypes(express);
      const handle = (req: IncomingMessage, res: ServerResponse, refusal?: number) =>
        admit(req, res, refusal) && listener(req, res, refusal);
      server.on("request", (req, res) => handle(req, res, lacksHost(req) ? 400 : undefined));
      server.on("checkExpectation", (req, res) => handle(req, res, 417));
    },
    listen: (host: string, port: number, log?: Logger) => listen(server, host, port, "PORT", log),
    close,
  };
}

/** HTTP/1.0 does not require Host. */
const lacksHost = ({ httpVersion, headers }: IncomingMessage) => httpVersion === "1.1" && headers.host === undefined;

/**
 * Returns whether the connection must be closed after the response. Node reads the rest of a body before the next request, so
 * the connection is kept only for a body that is known to be short.
 */
function mayHaveLongBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > bodyLimit;
}
