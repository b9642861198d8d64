// Request ids, and one structured log line per request.
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { mayHoldEmail } from "../errors.ts";

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

/** Logs the request once its response is sent; never a query, a header, a body, an email address or a client's IP address. Returns the request's id. */
export function logRequest(
  { method, url = "", headers, socket }: IncomingMessage,
  res: ServerResponse,
  { log, onResponse, trustProxy }: { log: Logger; onResponse?: OnResponse | undefined; trustProxy: number },
): string {
  const started = performance.now();
  const given = headers["x-request-id"];
  const id = trustProxy > 0 && typeof given === "string" && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
  const path = url.split("?", 1)[0] as string;
  const level = path === "/healthz" || path === "/readyz" ? "debug" : "info";
  res.on("close", () => {
    const exactMs = performance.now() - started;
    // Node calls a response that was cut off with its connection finished as well.
    const status = res.writableFinished && !socket.destroyed ? res.statusCode : "aborted";
    const loggedPath = mayHoldEmail(path) ? "[address]" : path.slice(0, loggedPathLength);
    log[level]({ id, method, path: loggedPath, status, ms: Math.round(exactMs) }, "request");
    onResponse?.({ method, path, status, seconds: exactMs / 1000 }, res);
  });
  return id;
}
