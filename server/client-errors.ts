// Answers what never becomes a request: broken HTTP, headers too long, a request that takes too long, CONNECT.
import { STATUS_CODES, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { HttpError } from "./http-error.ts";
import { problemMessage } from "./middleware/errors.ts";
import { isSent } from "./sent-response.ts";

/**
 * How long a client that was refused may go on sending, in milliseconds. Many read only when they have sent everything, which
 * fails where the connection is closed at once: Python's http.client then never sees the answer to an address of 20 MB.
 */
const lingering = 1_000;

/** What Node's parser refuses, by its error's code; the others that begin with HPE_ are 400. */
const refusals: Record<string, HttpError> = {
  ERR_HTTP_REQUEST_TIMEOUT: new HttpError(408, "The request took too long to arrive."),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new HttpError(413, "The extensions of the body's chunks are too long."),
  HPE_HEADER_OVERFLOW: new HttpError(431, "The request's address and headers are too long."),
};
const invalid = new HttpError(400, "The request is not valid HTTP.");
const noTunnel = new HttpError(405, "Use GET, HEAD or POST.", { headers: { Allow: "GET, HEAD, POST" } });

/**
 * Node's own answers to these have neither our headers nor a problem document.
 * @param headers of every answer, names and values by turns.
 * @param latestOn the latest response on a connection.
 */
export function answerClientErrors(
  server: Server,
  headers: readonly string[],
  latestOn: (socket: Socket) => ServerResponse | undefined,
): void {
  server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const code = error.code ?? "";
    const refusal = refusals[code] ?? (code.startsWith("HPE_") ? invalid : undefined);
    if (socket.writableEnded) return; // Refused already, and still sending.
    if (refusal && mayBeAnswered(socket, latestOn(socket))) refuse(socket, refusal, headers);
    // What was answered before still goes out; a connection that was reset has nobody to answer.
    else if (refusal && socket.bytesRead > 0) socket.destroySoon();
    else socket.destroy();
  });
  server.on("connect", (_req, stream) => {
    stream.on("error", () => undefined); // Node's own listener is gone; without one a reset would end the process.
    const socket = stream as Socket;
    const latest = latestOn(socket);
    // After the responses to the requests before it.
    if (latest && !isSent(latest)) latest.once("close", () => refuse(socket, noTunnel, headers));
    else refuse(socket, noTunnel, headers);
  });
}

/** Not in the middle of another answer; and not where a browser opened a connection in advance and never used it. */
function mayBeAnswered(socket: Socket, latest: ServerResponse | undefined): boolean {
  if (!socket.writable || socket.bytesRead === 0) return false;
  if (!latest) return true;
  // Between two requests; or in a body whose request is the next one to be answered.
  return latest.req.complete ? isSent(latest) : latest.socket === socket && !latest.headersSent;
}

function refuse(socket: Socket, refusal: HttpError, headers: readonly string[]): void {
  const problem = problemMessage(refusal);
  const lines = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  for (const [name, value] of Object.entries({
    ...problem.headers,
    Date: new Date().toUTCString(),
    Connection: "close",
  }))
    lines.push(`${name}: ${value}`);
  socket.end(`${lines.join("\r\n")}\r\n\r\n${problem.body}`);
  const deadline = setTimeout(() => socket.destroy(), lingering);
  socket.once("close", () => clearTimeout(deadline));
}
