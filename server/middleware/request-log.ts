// Gives every request an id and, when it is answered, one structured log line.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";

/** Long enough to recognise a path, short enough that a flood of 8 KB paths does not fill the disk. */
const loggedPathLength = 200;

/** Told of each request once its answer is sent, or its client has left. */
export type Answered = (
  request: { method: string | undefined; path: string; status: number | "aborted"; seconds: number },
  res: ServerResponse,
) => void;

/**
 * Logs method, path, status and duration; never a query, a header, a body or a client's address.
 * @returns the request's id.
 */
export function requestLog(
  log: Logger,
  answered?: Answered,
): (req: IncomingMessage, res: ServerResponse, path: string) => string {
  return function logRequest({ method, socket }, res, path) {
    const started = performance.now();
    const id = randomUUID();
    res.on("close", () => {
      const exactMs = performance.now() - started;
      const ms = Math.round(exactMs);
      // Node says of an answer that was cut off with its connection, too, that it is finished.
      const status = res.writableFinished && !socket.destroyed ? res.statusCode : "aborted";
      log.info({ id, method, path: loggable(path), status, ms }, "request");
      answered?.({ method, path, status, seconds: exactMs / 1000 }, res);
    });
    return id;
  };
}

/** Cuts the path, and redacts segments that look like an email address. */
function loggable(path: string): string {
  const segments = path.slice(0, loggedPathLength).split("/");
  // What is left of the last segment may be half an address, without its "@".
  if (path.length > loggedPathLength) segments.splice(-1, 1, "…");
  return segments.map((segment) => (/@|%(?:25)*40/i.test(segment) ? "[address]" : segment)).join("/");
}
