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
 * Returns classes of messages that have Express' prototypes from the start. Express changes the prototype of other messages one by
 * one: V8 then drops its optimisations for the object, and two thirds of the throughput are lost. Call `useExpressPrototypes` once,
 * before the first request.
 */
export function createMessageClasses() {
  const Request: typeof IncomingMessage = class extends nodeHttp.IncomingMessage {};
  const Response = class extends nodeHttp.ServerResponse {} as typeof ServerResponse;
  const useExpressPrototypes = (express: MessagePrototypes) => {
    Object.setPrototypeOf(Request.prototype, express.request);
    Object.setPrototypeOf(Response.prototype, express.response);
    express.request = Request.prototype;
    express.response = Response.prototype;
  };
  return { Request, Response, useExpressPrototypes };
}

/**
 * Returns whether the system has not yet taken over the last byte of a response. writableFinished tells this up to Node 22. From
 * Node 24 on, it becomes true only after all requests of a packet are read.
 */
export const isInProgress = ({ writableEnded, writableLength }: ServerResponse) => !writableEnded || writableLength > 0;

/** What Node's parser gets for an upgrade, after which it skips the rest of the packet. */
const skipPacket = 2;

/**
 * Makes a response in progress the last one of its connection, and drops all later requests. Node would create a request and a
 * response for each request of a packet, also after socket.destroy(), and keep them until the socket is closed: 1,600 pairs and 4 MB
 * for a packet of 64 KB. This is the site's only use of a private Node API; a test fails if it has no effect.
 */
export function endAfter(response: ServerResponse, socket: Socket): void {
  response.shouldKeepAlive = false; // Sends "Connection: close", if the headers are not sent yet.
  const { parser } = socket as Socket & { parser?: { onIncoming?: () => number } };
  if (parser) parser.onIncoming = () => skipPacket;
  // Node calls it after the response. If later bytes arrived, the system would reset the connection.
  socket.destroySoon = () => undefined;
  response.once("close", () => socket.end()); // The client or the timeout for inactivity closes it.
}
