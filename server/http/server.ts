// The HTTP server under Express: its limits, fast message classes, its port, and a graceful stop.
import { once } from "node:events";
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "../errors.ts";

/** In milliseconds. A phone on a bad line moves 2 KB/s and must not be cut off. */
const limits = {
  /** For a request's headers. Browsers send 1 KB; Node accepts 16 KiB. */
  headersTimeout: 10_000,
  /** For the whole request. The longest accepted body, 16 KiB, takes 8 s at 2 KB/s. */
  requestTimeout: 15_000,
  /** The interval of the checks for late requests. */
  connectionsCheckingInterval: 4_000,
  /** For the next request. A proxy must close an idle connection first, or a sign-up becomes a 502: nginx and ALB close after 60 s, Caddy after 120 s. */
  keepAliveTimeout: 125_000,
};

/** In milliseconds without a byte in either direction. A sign-up waits up to 5 s for Postgres. */
const inactivityTimeout = 13_000;

/** A request with more gets 431: Node drops the rest, and with it what a proxy appended. Browsers and proxies send 40 at most. */
export const maxHeaders = 100;

/** How long requests in progress may take once the server stops, in milliseconds. */
export const gracePeriodMs = 10_000;

/** In milliseconds. A proxy may have sent a request on an idle connection before it learns that the connection closes. */
export const stoppingMs = 500;

/** The prototypes that Express gives to messages. */
interface MessagePrototypes {
  request: object;
  response: object;
}

export interface Application {
  listener: (req: IncomingMessage, res: ServerResponse) => void;
  express: MessagePrototypes;
}

/** The server answers nothing until `serve` names the application. */
export function createHttpServer() {
  const { Request, Response, useExpressPrototypes } = createMessageClasses();
  const server = createServer({ ...limits, IncomingMessage: Request, ServerResponse: Response });
  server.timeout = inactivityTimeout;
  server.maxHeadersCount = maxHeaders;

  return {
    server,
    serve: ({ listener, express }: Application) => {
      useExpressPrototypes(express);
      server.on("request", (req, res) => {
        if (!server.listening) res.setHeader("Connection", "close");
        listener(req, res);
      });
    },
    listen: (host: string, port: number) => listen(server, host, port),
    /** Stops listening, closes each connection after its next response or half a second, and gives requests in progress the grace period. */
    close: async () => {
      // Node accepts one waiting connection in each round of the event loop. The system resets the others when the port closes.
      for (let round = 0; round < 50; round++) await setImmediate();
      // The close() of node:http would also close idle connections, at once.
      const closed = new Promise((done) => NetServer.prototype.close.call(server, done));
      await Promise.race([closed, sleep(stoppingMs)]);
      server.closeIdleConnections();
      const deadline = setTimeout(() => server.closeAllConnections(), gracePeriodMs);
      await closed;
      clearTimeout(deadline);
    },
  };
}

/**
 * Returns classes of messages that have Express' prototypes from the start. Express changes the prototype of other messages one by
 * one: V8 then drops its optimisations for the object, and two thirds of the throughput are lost. Call `useExpressPrototypes` once,
 * before the first request.
 */
function createMessageClasses() {
  const Request: typeof IncomingMessage = class extends IncomingMessage {};
  const Response = class extends ServerResponse {} as typeof ServerResponse;
  const useExpressPrototypes = (express: MessagePrototypes) => {
    Object.setPrototypeOf(Request.prototype, express.request);
    Object.setPrototypeOf(Response.prototype, express.response);
    express.request = Request.prototype;
    express.response = Response.prototype;
  };
  return { Request, Response, useExpressPrototypes };
}

/** Returns the port, which the system chooses if `port` is 0. @throws OperatorError that names the setting of the port. */
export async function listen(server: NetServer, host: string, port: number, setting = "PORT"): Promise<number> {
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new OperatorError(explain(code, host, port, setting), { cause: error });
  }
  return (server.address() as AddressInfo).port;
}

function explain(code: string, host: string, port: number, setting: string): string {
  if (code === "EADDRINUSE") {
    return `Port ${port} is taken by another program. Stop that one, or choose another port, for example ${setting}=${port + 1}`;
  }
  return `Cannot listen on HOST=${host}, ${setting}=${port} (${code}). Choose an address of this machine, and a port above 1023.`;
}
