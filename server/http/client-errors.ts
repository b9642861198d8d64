// Error responses below Express: invalid HTTP, headers that are too long, a request that takes too long, CONNECT.
import { STATUS_CODES, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { HttpError } from "./http-error.ts";
import { methodNotAllowed } from "./method.ts";
import { errorHeaders, problemDocument } from "./problem.ts";
import { isSent } from "./sent-response.ts";

/**
 * How long a refused client may go on sending, in milliseconds. Many clients read only after they have sent everything. If
 * the connection is closed at once, Python's http.client never sees the response to an address of 20 MB.
 */
const lingerMs = 1_000;

/** By the error code of Node's parser; every other code that begins with HPE_ is a 400. */
const errors: Record<string, HttpError> = {
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError(408, "The request took too long to arrive."),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new HttpError(413, "The extensions of the body's chunks are too long."),
  HPE_HEADER_OVERFLOW: new HttpError(431, "The request's address and headers are too long."),
};
const invalid = new HttpError(400, "The request is not valid HTTP.");
const noTunnel = methodNotAllowed("GET, HEAD, POST");

/**
 * Sends these errors as problem documents; Node's own responses to them have no headers.
 * @param headers of every response, names and values by turns.
 * @param latestOn returns the latest response on a connection.
 */
export function handleClientErrors(
  server: Server,
  headers: readonly string[],
  latestOn: (socket: Socket) => ServerResponse | undefined,
): void {
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const error = errors[code] ?? (code.startsWith("HPE_") ? invalid : undefined);
    if (socket.writableEnded) return; // Refused already, and still sending.
    if (error && canRespond(socket, latestOn(socket))) refuse(socket, error, headers);
    // Responses to earlier requests are still sent. After a reset there is no client to send anything to.
    else if (error && socket.bytesRead > 0) socket.destroySoon();
    else socket.destroy();
  });
  server.on("connect", (_req, stream) => {
    stream.on("error", () => undefined); // Node has removed its own listener; without one a reset would end the process.
    const socket = stream as Socket;
    const latest = latestOn(socket);
    // After the responses to the requests before it.
    if (latest && !isSent(latest)) latest.once("close", () => refuse(socket, noTunnel, headers));
    else refuse(socket, noTunnel, headers);
  });
}

/** Returns false in the middle of another response, and on a connection that a browser opened in advance and never used. */
function canRespond(socket: Socket, latest: ServerResponse | undefined): boolean {
  if (!socket.writable || socket.bytesRead === 0) return false;
  if (!latest) return true;
  // Between two requests; or in a body whose request is the next one to be answered.
  return latest.req.complete ? isSent(latest) : latest.socket === socket && !latest.headersSent;
}

function refuse(socket: Socket, error: HttpError, headers: readonly string[]): void {
  const problem = problemDocument(error);
  const date = new Date().toUTCString();
  const own = { ...errorHeaders(error), ...problem.headers, Date: date, Connection: "close" };
  const lines = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  for (const [name, value] of Object.entries(own)) lines.push(`${name}: ${value}`);
  socket.end(`${lines.join("\r\n")}\r\n\r\n${problem.body}`);
  const deadline = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(deadline));
}
