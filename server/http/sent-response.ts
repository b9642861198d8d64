// Whether a response is sent.
import type { ServerResponse } from "node:http";

/**
 * Returns whether the response is ended and the system has taken over its last byte. Node's writableFinished becomes true
 * at that moment up to Node 22. From Node 24 on, it becomes true only after all requests of a packet are read.
 */
export function isSent(response: ServerResponse): boolean {
  return response.writableEnded && response.writableLength === 0;
}
