// Changes to Node's messages and parser. Messages that are created with Express' prototypes keep V8's optimisations, two thirds of
// the throughput. A connection that stops parsing at a chosen response limits the memory of clients that pipeline.
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
 * Returns classes of messages, and a function that gives them Express' prototypes. Express would change the prototype of every
 * message, and V8 would then drop its optimisations for the object.
 */
export function createMessageClasses(): {
  Request: typeof IncomingMessage;
  Response: typeof ServerResponse;
  inheritFrom: (express: MessagePrototypes) => void;
} {
  class Request extends nodeHttp.IncomingMessage {}
  class Response extends nodeHttp.ServerResponse {}
  const inheritFrom = (express: MessagePrototypes) => {
    express.request = Object.setPrototypeOf(Request.prototype, express.request) as object;
    express.response = Object.setPrototypeOf(Response.prototype, express.response) as object;
  };
  return { Request, Response: Response as typeof ServerResponse, inheritFrom };
}

/**
 * Returns whether the system has not yet taken over the last byte of a response. writableFinished tells this up to Node 22. From
 * Node 24 on, it becomes true only after all requests of a packet are read.
 */
export const isInProgress = ({ writableEnded, writableLength }: ServerResponse) => !writableEnded || writableLength > 0;

/**
 * Makes a response the last one of its connection. Later bytes stay unread until the response is sent. Then they are dropped
 * unparsed until the client closes the connection, for at most `lingering` milliseconds.
 */
export function endAfter(response: ServerResponse, socket: Socket, lingering: number): void {
  response.shouldKeepAlive = false; // Sends "Connection: close", if the headers are not sent yet.
  socket.pause(); // First: otherwise the stream would go on reading into its buffer.
  stopParsing(socket);
  // Node calls it after such a response, and would close the connection with unread bytes.
  socket.destroySoon = () => undefined;
  response.once("close", () => {
    socket.end();
    socket.resume();
    const deadline = setTimeout(() => socket.destroy(), lingering).unref();
    socket.once("close", () => clearTimeout(deadline)); // A timer keeps the socket and its requests in memory.
  });
}

/**
 * Ignores the rest of the packet and all later bytes. Node would create a request and a response for each request of a packet, also
 * after socket.destroy(), and keep them until the socket is closed: 1,600 pairs and 4 MB for a packet of 64 KB. This is the site's
 * only use of a private Node API; a test fails if it has no effect.
 */
function stopParsing(socket: Socket): void {
  const { parser } = socket as Socket & { parser?: { onIncoming?: () => number } };
  if (parser) parser.onIncoming = () => 2; // As after an upgrade: the parser ends here.
  socket.removeAllListeners("data").on("data", () => undefined);
}
