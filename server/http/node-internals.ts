// What depends on the inner workings of Node's HTTP server: fast message classes, and a connection that stops parsing.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** On Node 24, an import would also load fetch and WebSocket: a sixth of the start's processor time. */
export const nodeHttp = process.getBuiltinModule("node:http");

/** The prototypes that Express gives to messages. */
export interface MessagePrototypes {
  request: object;
  response: object;
}

/**
 * Returns classes whose messages have Express' prototypes from the start, once `inheritFrom` names them. Express changes the
 * prototype of other messages one by one: V8 then drops its optimisations for the object, and two thirds of the throughput are lost.
 */
export function createMessageClasses() {
  const Request: typeof IncomingMessage = class extends nodeHttp.IncomingMessage {};
  const Response = class extends nodeHttp.ServerResponse {} as typeof ServerResponse;
  const inheritFrom = (express: MessagePrototypes) => {
    Object.setPrototypeOf(Request.prototype, express.request);
    Object.setPrototypeOf(Response.prototype, express.response);
    express.request = Request.prototype;
    express.response = Response.prototype;
  };
  return { Request, Response, inheritFrom };
}

/**
 * Returns whether the system has not yet taken over the last byte of a response. writableFinished tells this up to Node 22. From
 * Node 24 on, it becomes true only after all requests of a packet are read.
 */
export const isInProgress = ({ writableEnded, writableLength }: ServerResponse) => !writableEnded || writableLength > 0;

/**
 * Makes a response in progress the last one of its connection, and ignores all later bytes. The client has `lingeringMs` after the
 * response to close the connection: if the server closed it with unread bytes, the system would reset it.
 */
export function endAfter(response: ServerResponse, socket: Socket, lingeringMs: number): void {
  response.shouldKeepAlive = false; // Sends "Connection: close", if the headers are not sent yet.
  socket.pause(); // First: otherwise the stream would go on reading into its buffer.
  stopParsing(socket);
  socket.destroySoon = () => undefined; // Node calls it after the response, and would close the connection.
  response.once("close", () => {
    socket.end();
    socket.resume();
    const deadline = setTimeout(() => socket.destroy(), lingeringMs).unref();
    socket.once("close", () => clearTimeout(deadline)); // A timer keeps the socket and its requests in memory.
  });
}

/**
 * Drops the rest of the packet and all later bytes. Node would create a request and a response for each request of a packet, also
 * after socket.destroy(), and keep them until the socket is closed: 1,600 pairs and 4 MB for a packet of 64 KB. This is the site's
 * only use of a private Node API; a test fails if it has no effect.
 */
function stopParsing(socket: Socket) {
  const { parser } = socket as Socket & { parser?: { onIncoming?: () => number } };
  if (parser) parser.onIncoming = () => 2; // As after an upgrade: the parser ends here.
  socket.removeAllListeners("data").on("data", () => undefined);
}
