// The HTTP server under Express: its limits (time-limits.ts), fast message classes, and a graceful stop.
import { createServer, IncomingMessage, ServerResponse } from "node:http";
import { Server as NetServer } from "node:net";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { timeLimits } from "../config/time-limits.ts";
import { listen } from "./listen.ts";

/** A request with more gets 431: Node drops the rest, and with it what a proxy appended. Browsers and proxies send 40 at most. */
export const maxHeaders = 100;

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
  const server = createServer({
    headersTimeout: timeLimits.headers,
    requestTimeout: timeLimits.request,
    connectionsCheckingInterval: timeLimits.slowRequestCheck,
    keepAliveTimeout: timeLimits.keepAlive,
    IncomingMessage: Request,
    ServerResponse: Response,
  });
  server.timeout = timeLimits.inactivity;
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
      await Promise.race([closed, sleep(timeLimits.keepAliveOfStop)]);
      server.closeIdleConnections();
      const deadline = setTimeout(() => server.closeAllConnections(), timeLimits.grace);
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
