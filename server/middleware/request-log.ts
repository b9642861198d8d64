// Request ids, and one structured log line per request.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import type { Logger } from "pino";

/** In characters. Enough to recognise a path, and too short for a flood of 8 KB paths to fill the disk. */
const loggedPathLength = 200;

interface LoggedRequest {
  method: string | undefined;
  path: string;
  status: number | "aborted";
  seconds: number;
}

/** Called after each response is sent or aborted. */
export type OnResponse = (request: LoggedRequest, res: ServerResponse) => void;

/** Starts the log line of a request, and returns the request's id. */
export type LogRequest = (req: IncomingMessage, res: ServerResponse) => string;

/** Logs method, path, status and duration; never a query, a header, a body or a client's address. */
export function requestLog(log: Logger, onResponse?: OnResponse): LogRequest {
  return function logRequest({ method, url = "", socket }, res) {
    const started = performance.now();
    const id = randomUUID();
    const path = url.split("?", 1)[0] as string;
    res.on("close", () => {
      const exactMs = performance.now() - started;
      const ms = Math.round(exactMs);
      // Node calls a response that was cut off with its connection finished as well.
      const status = res.writableFinished && !socket.destroyed ? res.statusCode : "aborted";
      log.info({ id, method, path: redact(path), status, ms }, "request");
      onResponse?.({ method, path, status, seconds: exactMs / 1000 }, res);
    });
    return id;
  };
}

export function logRequests(logRequest: LogRequest): RequestHandler {
  return function startLog(req, res, next) {
    res.setHeader("X-Request-Id", logRequest(req, res));
    next();
  };
}

/** Cuts the path, and redacts segments that look like an email address. */
function redact(path: string): string {
  const segments = path.slice(0, loggedPathLength).split("/");
  // The rest of the last segment may be half an address, without its "@".
  if (path.length > loggedPathLength) segments.splice(-1, 1, "…");
  return segments.map((segment) => (/@|%(?:25)*40/i.test(segment) ? "[address]" : segment)).join("/");
}
