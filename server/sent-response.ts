// Whether a response is sent.
import type { ServerResponse } from "node:http";

/**
 * Ended, and given to the system to its last byte. Node's own writableFinished says so at once up to Node 22, but from Node 24 on only
 * when all that arrived together is read, so that every request in a packet would seem to be ahead of its answer.
 */
export function isSent(response: ServerResponse): boolean {
  return response.writableEnded && response.writableLength === 0;
}
