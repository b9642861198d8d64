// Disconnects clients that do not read, or next to nothing, what they asked for.
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Timeouts } from "./timeouts.ts";

/**
 * Node's own timeout of a socket begins anew with every byte that the system takes over, so that reading a little now and
 * then would be enough for ever. Here the whole of what was written at once, such as an answer, has to be taken over.
 */
export function dropStalledReaders(server: Server, { reading, check }: Pick<Timeouts, "reading" | "check">): void {
  const progress = new Map<Socket, { taken: number; since: number }>();
  server.on("connection", (socket) => {
    progress.set(socket, { taken: 0, since: performance.now() });
    socket.once("close", () => progress.delete(socket));
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const [socket, last] of progress) {
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || taken !== last.taken) Object.assign(last, { taken, since: now });
      // Reset, or the system would keep what is unread for minutes more.
      else if (now - last.since >= reading) socket.resetAndDestroy();
    }
  }, check).unref();
  server.once("close", () => clearInterval(timer));
}
