// Disconnects clients that do not read their responses, or read too slowly.
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Timeouts } from "./timeouts.ts";

/**
 * Node's own timeout of a socket restarts with every byte that the system takes over, so a client that reads one byte now
 * and then would never time out. Here the system must take over all that was written at once, such as one response.
 */
export function disconnectSlowReaders(server: Server, { read, check }: Pick<Timeouts, "read" | "check">): void {
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
      // A reset, because the system would keep unread data for minutes after a normal close.
      else if (now - last.since >= read) socket.resetAndDestroy();
    }
  }, check).unref();
  server.once("close", () => clearInterval(timer));
}
