// The HTTP server below Express: odd targets, long bodies, pipelining, slow clients and shutdown.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { createTestApp, noDatabase } from "../../tests/support/app.ts";
import type { AppOptions } from "../app.ts";
import { cacheResponse } from "./cached-response.ts";
import { createHttpServer, directTimeouts } from "./server.ts";

/** Starts a site, which stops when the test ends. */
async function start(changes: Partial<AppOptions> = {}, timeouts = directTimeouts) {
  const app = await createTestApp(noDatabase, { waitlist: { join: async () => undefined }, ...changes });
  const http = createHttpServer(timeouts);
  http.serve(app.application);
  onTestFinished(() => http.close());
  return { ...app, http, port: await http.listen("127.0.0.1", 0, app.options.log) };
}

async function open(port: number, allowHalfOpen = false): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen });
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
  return new Promise((resolve) => socket.once("close", () => resolve(received)));
}

const host = "Host: localhost\r\n";
const healthz = `GET /healthz HTTP/1.1\r\n${host}\r\n`;
const post = `POST /api/earlyaccess HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;
const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;
const entry = JSON.stringify({ name: "Ada", email: "ada@example.com", company: "Engines" });
const signup = `${post}Content-Length: ${entry.length}\r\n\r\n${entry}`;

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

it("the server returns 413 for an endless chunked body and closes the connection", async () => {
  const chunk = `8000\r\n${"x".repeat(0x80_00)}\r\n`;
  const answer = await exchange((await start()).port, chunked + chunk.repeat(3));
  expect(statuses(answer)).toEqual(["413"]);
  expect(answer).toContain("Connection: close");
});

it.each(["POST /nope", "GET /", "DELETE /api/nope"])("the server does not read a long body of %s", async (line) => {
  const head = `${line} HTTP/1.1\r\n${host}Content-Length: 1000000000\r\n\r\n`;
  expect(await exchange((await start()).port, head)).toContain("Connection: close");
});

it.each([3, 21])(
  "each stored sign-up of %i in one packet gets its response, the last one with Connection: close",
  async (count) => {
    const joined: string[] = [];
    let sent = () => {};
    const later = new Promise<void>((resolve) => (sent = resolve));
    const join = async ({ email }: { email: string }) => later.then(() => void joined.push(email));
    const site = await start({ waitlist: { join } });
    const socket = await open(site.port, true);
    let answer = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
    socket.write(signup.repeat(count));
    await once(site.http.server, "request");
    socket.write("x".repeat(50_000));
    await sleep(50); // The server must not take these bytes for a request.
    sent();
    await once(socket, "end");
    // If the server closed the connection without reading all bytes, the system would reset it.
    const closed = new Promise((resolve) => socket.once("close", resolve));
    for (let i = 0; i < 3; i++) await sleep(50).then(() => socket.write("x"));
    socket.end("x");
    expect(await closed, "whether the connection is reset").toBe(false);
    expect(statuses(answer)).toEqual(joined.map(() => "201"));
    expect(answer.match(/Connection: close/g)).toHaveLength(1);
    expect(site.logged().match(/"status":201,.*"request"/g)).toHaveLength(joined.length);
  },
);

// Node would answer the last two before the event "request".
it.each([
  ["a sign-up", signup, "201"],
  ["a request without Host", "GET / HTTP/1.1\r\n\r\n", "400"],
  ["a request with an unknown Expect", `GET / HTTP/1.1\r\n${host}Expect: tea\r\n\r\n`, "417"],
])("the server answers and logs %s but no pipelined one, and parses only one of those", async (_, sent, status) => {
  const site = await start();
  let parsed = 0;
  for (const event of ["request", "checkExpectation"]) site.http.server.on(event, () => parsed++);
  expect(statuses(await exchange(site.port, sent.repeat(300)))).toEqual([status]);
  expect(site.logged().match(new RegExp(`"status":${status},.*"request"`, "g"))).toHaveLength(1);
  expect(parsed).toBe(2);
});

it("the server answers a request that arrives during shutdown with Connection: close", async () => {
  const site = await start({}, { ...directTimeouts, stopping: 2_000 });
  const kept = await open(site.port);
  const idle = await open(site.port);
  kept.write(healthz);
  await once(kept, "data");
  const closed = site.http.close();
  while (site.http.server.listening) await sleep(1);
  kept.write(healthz);
  expect(await text(kept)).toMatch(/^HTTP\/1\.1 200 [^]*Connection: close[^]*\{"status":"ok"\}$/);
  expect(await text(idle)).toBe("");
  await closed;
});

it("the server logs that it cannot accept connections once a minute, and accepts the next one", async () => {
  const site = await start();
  for (let i = 0; i < 3; i++) site.http.server.emit("error", Object.assign(new Error("accept"), { code: "EMFILE" }));
  expect(site.logged().match(/"code":"EMFILE".*"connections cannot be accepted"/g)).toHaveLength(1);
  expect(statuses(await exchange(site.port, closing(healthz)))).toEqual(["200"]);
});

const shortTimeouts = { ...directTimeouts, headers: 200, request: 400, check: 20, inactivity: 300 };

/** Larger than the socket buffers of both ends. */
const large = cacheResponse({ identity: Buffer.alloc(16_000_000) }, 200, {});

async function startWithLargeFile(timeouts = shortTimeouts) {
  const { frontend } = (await start()).options;
  return start({ frontend: { ...frontend, files: new Map([["/large", large]]) } }, timeouts);
}

it.each([
  ["takes too long for its body", `${post}Content-Length: 1000\r\n\r\n`, "408", 400],
  ["pipelines and then sends without end", signup.repeat(2), "201", 60_000],
  ["pipelines during a response and then sends without end", `GET /large HTTP/1.1\r\n${host}\r\n`, "200", 60_000],
])("the server disconnects a client that %s", async (_, sent, status, request) => {
  const socket = await open((await startWithLargeFile({ ...shortTimeouts, request })).port, true);
  socket.write(sent);
  socket.once("data", () => socket.write(healthz));
  const drip = setInterval(() => socket.write("x"), 10);
  expect(statuses(await receive(socket))).toEqual([status]);
  clearInterval(drip);
});

it("the server disconnects a client that does not read the response", async () => {
  const site = await startWithLargeFile();
  const socket = await open(site.port);
  socket.pause();
  socket.write(`GET /large HTTP/1.1\r\n${host}\r\n`);
  const [, answer] = (await once(site.http.server, "request")) as [IncomingMessage, ServerResponse];
  await once(answer, "close");
  expect(site.logged()).toContain('"path":"/large","status":"aborted"');
  for (const ms of Object.values(directTimeouts)) expect(ms + directTimeouts.check).toBeLessThan(20_000);
  socket.destroy();
});
