// The HTTP server under Express: timeouts, a limit on pipelined requests, and a graceful stop.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { listen } from "./listen.ts";

/** Not an import, which on Node 24 also loads fetch and WebSocket: a sixth of the start's processor time. */
const nodeHttp = process.getBuiltinModule("node:http");

/** In milliseconds. A phone on a bad line moves 2 KB/s and must not be cut off. */
export const directTimeouts = {
  /** For a request's headers. Browsers send 1 KB; Node accepts 16 KiB. */
  headers: 10_000,
  /** For the whole request. The longest accepted body, 16 KiB, takes 8 s at 2 KB/s. */
  request: 15_000,
  /** The interval of the checks for late requests. With Node's default of 30 s, each could be that much later. */
  check: 1_000,
  /** Without a byte in either direction. A sign-up waits up to 5 s for Postgres. */
  inactivity: 13_000,
  /** For the next request on a connection. */
  keepAlive: 10_000,
  /** For the next request once the server stops; closing at once would reset a request on its way. */
  stopping: 500,
  /** For a client that pipelines to read its last response: closing with unread bytes resets the connection. */
  lingering: 2_000,
};

/** A proxy must close an idle connection first, or a sign-up becomes a 502. nginx and ALB close after 60 s, Caddy after 120 s. */
export const proxiedTimeouts = { ...directTimeouts, keepAlive: 125_000 };

/** How long requests in progress may take once the server stops, in milliseconds. Windows ends a process 5 s after its console is closed. */
export const gracePeriodMs = process.platform === "win32" ? 2_000 : 10_000;

export interface Application {
  /** @param refusal the status for a request that HTTP forbids. */
  listener: (req: IncomingMessage, res: ServerResponse, refusal?: number) => void;
  /** The prototypes that Express gives to messages. */
  express: { request: object; response: object };
}

/** The server answers nothing until `serve` names the application. */
export function createHttpServer(timeouts = directTimeouts) {
  // Express changes the prototype of every message, and V8 then drops its optimisations for the object: a loss of two thirds
  // of the throughput. Messages that are created with Express' prototype keep it.
  class Request extends nodeHttp.IncomingMessage {}
  class Response extends nodeHttp.ServerResponse<Request> {}
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
  /** The latest response on each connection. */
  const connections = new Map<Socket, ServerResponse | undefined>();
  let stopping = false;
  server.on("connection", (socket) => {
    connections.set(socket, undefined);
    socket.once("close", () => connections.delete(socket));
  });

  /**
   * Refuses a request that came before the response to the previous one was sent, which HTTP lets the client repeat. No browser
   * or proxy pipelines, and each request that Express handles holds 8 KB until its response is sent.
   * @returns whether the request is to be answered.
   */
  function admit(req: IncomingMessage, res: ServerResponse, refusal?: number): boolean {
    const { socket } = req;
    const latest = connections.get(socket);
    if (latest && (isInProgress(latest) || !latest.shouldKeepAlive)) {
      req.resume();
      endAfter(latest, socket, timeouts.lingering);
      return false;
    }
    connections.set(socket, res);
    if (stopping || refusal !== undefined) res.shouldKeepAlive = false;
    return true;
  }

  /** Stops listening, closes idle connections after a short delay, and gives requests in progress the grace period. */
  async function close(): Promise<void> {
    // The system resets connections that wait when the server stops listening. Node may accept only one of them per turn.
    for (let turn = 0; turn < 50; turn++) await nextTurn();
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
      express.request = Object.setPrototypeOf(Request.prototype, express.request) as object;
      express.response = Object.setPrototypeOf(Response.prototype, express.response) as object;
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
 * Returns whether the system has not yet taken over the last byte of a response. Node's writableFinished says so up to Node 22;
 * from Node 24 on, it becomes true only after all requests of a packet are read.
 */
const isInProgress = ({ writableEnded, writableLength }: ServerResponse) => !writableEnded || writableLength > 0;

/**
 * Makes a response the last one of its connection. What the client sends then is left unread until the response is sent, and
 * thrown away unparsed until the client closes the connection or the time is over.
 */
function endAfter(response: ServerResponse, socket: Socket, lingering: number): void {
  response.shouldKeepAlive = false; // Sends "Connection: close", if the headers are not sent yet.
  socket.pause(); // First: otherwise the stream would go on reading into its buffer.
  stopParsing(socket);
  // Node calls it after such a response, and would close the connection with unread bytes.
  socket.destroySoon = () => undefined;
  response.once("close", () => {
    socket.end();
    socket.resume();
    setTimeout(() => socket.destroy(), lingering).unref();
  });
}

/**
 * Ignores the rest of the packet and all later bytes. Node creates a request and a response for each request of a packet, also after
 * socket.destroy(), and frees them when the socket is closed: 1,600 pairs and 4 MB for a packet of 64 KB. This is the site's only
 * use of a private Node API; a test fails if it has no effect.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as Socket & { parser?: { onIncoming?: () => number } };
  if (parser) parser.onIncoming = () => 2; // As after an upgrade: the parser ends here.
  socket.removeAllListeners("data").on("data", () => undefined);
}
