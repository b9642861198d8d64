// Stops Node's parser, the site's only use of a private Node API. A test in server.test.ts fails if it has no effect.
import type { Socket } from "node:net";

/**
 * Ignores the requests in the rest of a packet. Node creates a request and a response for each of them, also after
 * socket.destroy(), and frees them when the socket is closed: 1,600 pairs and 4 MB for a packet of 64 KB. Without this,
 * 150 connections with one packet each took 376 MB.
 */
export function stopParsing(socket: Socket): void {
  const { parser } = socket as Socket & { parser?: { onIncoming?: () => number } };
  if (parser) parser.onIncoming = () => 0;
}
