// The HTTP server below Express: odd targets, many headers, shutdown.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as nextRound } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { createTestApp, noDatabase } from "../../tests/support/app.ts";
import { within } from "../../tests/support/run.ts";
import { timeLimits } from "../config/time-limits.ts";
import { createHttpServer } from "./server.ts";

/** Starts a site, which stops when the test ends. */
async function start() {
  const app = await createTestApp(noDatabase);
  const http = createHttpServer();
  http.serve(app.application);
  onTestFinished(() => http.close());
  return { ...app, http, port: await http.listen("127.0.0.1", 0) };
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  socket.on("error", () => undefined); // A write fails after the server has closed the connection.
  return socket;
}

/** Sends the bytes and returns everything that the server sends until it closes the connection. */
async function exchange(port: number, bytes: string): Promise<string> {
  const socket = await open(port);
  socket.write(bytes, "latin1");
  return receive(socket);
}

/** Returns everything that the server sends until the connection ends, also if the client's last writes fail. */
function receive(socket: Socket): Promise<string> {
  let received = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
  return within("the end of the connection", once(socket, "close")).then(() => received);
}

const host = "Host: localhost\r\n";
const healthz = `GET /healthz HTTP/1.1\r\n${host}\r\n`;

const closing = (request: string) => request.replace("\r\n", "\r\nConnection: close\r\n");
const statuses = (answer: string) => answer.match(/(?<=HTTP\/1\.1 )\d+/g);

it.each([
  ["*", 404],
  ["//a@[x#y", 404],
  ["https://other.example/?joined", 304],
])("the server answers the request target %s with %i and the headers of every response", async (target, status) => {
  const head = closing(`GET ${target} HTTP/1.1\r\n${host}If-None-Match: *\r\n\r\n`);
  const answer = await exchange((await start()).port, head);
  expect(statuses(answer)).toEqual([`${status}`]);
  expect(answer).toContain("Content-Security-Policy: default-src 'none'");
  expect(answer).toContain("X-Request-Id: ");
});

it("the server answers a request that arrives during shutdown with Connection: close", async () => {
  const site = await start();
  const [kept, idle] = [await open(site.port), await open(site.port)];
  for (const socket of [kept, idle]) {
    socket.write(healthz);
    expect(String(await within("the response", once(socket, "data")))).toContain("\r\nKeep-Alive: timeout=125\r\n");
  }
  const closed = site.http.close();
  while (site.http.server.listening) await nextRound();
  kept.write(healthz);
  expect(await within("the response", text(kept))).toMatch(
    /^HTTP\/1\.1 200 [^]*Connection: close[^]*\{"status":"ok"\}$/,
  );
  expect(await within("the end of the idle connection", text(idle))).toBe("");
  await within("the end of the server", closed);
});

/** The head of a request without its body. */
const unfinished = closing(
  `POST /api/earlyaccess HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 99\r\n\r\n`,
);

it.each([
  [{ inactivity: 300 }, unfinished, null],
  [{ headers: 300 }, unfinished.slice(0, -2), ["408"]],
  [{ headers: 300, request: 300 }, unfinished, ["408"]],
])("the server closes an unfinished request's connection after the limit of %j", async (limits, sent, status) => {
  const own = { ...timeLimits };
  onTestFinished(() => void Object.assign(timeLimits, own));
  Object.assign(timeLimits, { slowRequestCheck: 50 }, limits);
  expect(statuses(await exchange((await start()).port, sent))).toEqual(status);
});

it("a stop accepts the connections that wait, and answers them", async () => {
  const site = await start();
  const sockets = Array.from({ length: 20 }, () => connect({ port: site.port, host: "127.0.0.1" }));
  const closed = site.http.close(); // The system has the connections, and the server has not accepted them.
  for (const socket of sockets) socket.write(healthz);
  const answers = await within("the responses", Promise.all(sockets.map((socket) => text(socket))));
  expect(answers.map((answer) => statuses(answer))).toEqual(sockets.map(() => ["200"]));
  await within("the end of the server", closed);
});

it("a stop cuts off a request that is in progress after the grace period", async () => {
  const own = { ...timeLimits };
  onTestFinished(() => void Object.assign(timeLimits, own));
  // No other limit ends the request.
  Object.assign(timeLimits, { grace: 500, inactivity: 300_000, request: 300_000 });
  const site = await start();
  const socket = await open(site.port);
  const arrived = once(site.http.server, "request");
  socket.write(unfinished);
  await within("the request", arrived);
  const answer = receive(socket);
  await within("the end of the server", site.http.close());
  expect(await answer).toBe("");
  await vi.waitFor(() => expect(site.logged()).toContain('"path":"/api/earlyaccess","status":"aborted"'));
  expect(site.logged()).not.toContain("127.0.0.1");
});

it.each([
  [97, "200"],
  [98, "431"],
])("the server answers a request with Host, Connection and %i further headers with %s", async (count, status) => {
  const headers = Array.from({ length: count }, (_, i) => `X-${i}: 1\r\n`).join("");
  const { port } = await start();
  const answer = await exchange(port, closing(`GET / HTTP/1.1\r\n${host}${headers}\r\n`));
  expect(statuses(answer)).toEqual([status]);
  for (const name of ["Content-Security-Policy", "X-Request-Id"]) expect(answer).toContain(`\r\n${name}: `);
});
