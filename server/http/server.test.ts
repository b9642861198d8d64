// The HTTP server below Express: malformed requests, pipelining, slow clients and shutdown.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createTestApp, noDatabase, type TestApp, testSettings } from "../../tests/support/app.ts";
import type { AppOptions } from "../app.ts";
import { createBuiltFrontend } from "../views/frontend.ts";
import { cacheResponse } from "./cached-response.ts";
import { createHttpServer, directTimeouts, type HttpServer } from "./server.ts";

interface Started extends TestApp {
  http: HttpServer;
  port: number;
}

async function start(changes: Partial<AppOptions> = {}, timeouts = directTimeouts): Promise<Started> {
  const given = { waitlist: { join: async () => undefined }, ...changes };
  const app = await createTestApp(noDatabase, given);
  const http = createHttpServer(timeouts);
  http.serve(app.application);
  return { ...app, http, port: await http.listen("127.0.0.1", 0) };
}

async function stop(site: Started): Promise<void> {
  await site.http.close();
  await site.close();
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
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
const get = `GET / HTTP/1.1\r\n${host}`;
const healthz = `GET /healthz HTTP/1.1\r\n${host}\r\n`;
const post = `POST /api/earlyaccess HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;
const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;
const entry = JSON.stringify({ name: "Ada", email: "ada@example.com", company: "Engines" });
const signup = `${post}Content-Length: ${entry.length}\r\n\r\n${entry}`;

/** Adds lines to the request's headers. */
const withHeaders = (request: string, lines: string) => request.replace(host, host + lines);
const closing = (request: string) => withHeaders(request, "Connection: close\r\n");
const statuses = (answer: string) => answer.match(/(?<=HTTP\/1\.1 )\d+/g);

describe("the server", () => {
  let site: Started;
  beforeAll(async () => {
    site = await start();
  });
  afterAll(() => stop(site));

  it.each([
    ["/nope", 404],
    ["*", 404],
    ["http://[::1", 404],
    ["//a@[x#y", 404],
    ["http://localhost/nope", 404],
    ["http://localhost:3000/", 200],
    ["https://other.example/?joined", 200],
    ["/#", 200],
  ])("answers the request target %s with %i and the headers of every response", async (target, status) => {
    const answer = await exchange(site.port, closing(`GET ${target} HTTP/1.1\r\n${host}\r\n`));
    expect(statuses(answer)).toEqual([`${status}`]);
    expect(answer).toContain("Content-Security-Policy: default-src 'none'");
    expect(answer).toContain("X-Request-Id: ");
  });

  it.each([
    [400, "text that is not HTTP", "GARBAGE\r\n\r\n"],
    [400, "a TLS handshake", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00FC\u0003\u0003"],
    [400, "a NUL in a header", `${get}X: a\u0000b\r\n\r\n`],
    [400, "a carriage return in a header", `${get}X: a\rb\r\n\r\n`],
    [400, "a space before a header's colon", `${get}X : a\r\n\r\n`],
    [400, "two Content-Length headers", `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`],
    [400, "Content-Length with Transfer-Encoding", withHeaders(`${chunked}0\r\n\r\n`, "Content-Length: 5\r\n")],
    [400, "a transfer coding after chunked", `${post}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
    [400, "a chunk without a size", `${chunked}xyz\r\n`],
    [400, "a chunk that is longer than its size", `${chunked}1\r\n{}\r\n0\r\n\r\n`],
    [413, "20 KB of chunk extensions", `${chunked}1;${"x".repeat(20_000)}\r\n`],
    [431, "a header of 20 KB", `${get}X: ${"x".repeat(20_000)}\r\n\r\n`],
    [431, "2,000 headers of 20 bytes", `${get}${"X-A-Long-Name: yyyy\r\n".repeat(2_000)}\r\n`],
    [431, "a path of 20 KB", `GET /${"x".repeat(20_000)} HTTP/1.1\r\n${host}\r\n`],
    [400, "no Host", "GET / HTTP/1.1\r\n\r\n"],
    [400, "a sign-up without Host", signup.replace(host, "")],
  ])("returns %i for %s and closes the connection", async (status, _, bytes) => {
    expect(statuses(await exchange(site.port, bytes))).toEqual([`${status}`]);
  });

  it("sends the response to a valid request before it disconnects for a malformed one after it", async () => {
    expect(await exchange(site.port, `${healthz}GARBAGE\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 [^]*\{"status":"ok"\}/);
  });

  it.each(["application/json", "application/x-www-form-urlencoded"])(
    "returns 413 for an endless chunked body of %s and closes the connection",
    async (type) => {
      const chunk = `8000\r\n${"x".repeat(0x80_00)}\r\n`;
      const answer = await exchange(site.port, chunked.replace("application/json", type) + chunk.repeat(3));
      expect(statuses(answer)).toEqual(["413"]);
      expect(answer).toContain("Connection: close");
    },
  );

  it.each(["POST /nope", "GET /", "GET /favicon.svg", "DELETE /api/nope", "POST /leave?token=AAAAAAAAAAAAAAAAAAAAAA"])(
    "closes the connection of %s with a long body instead of reading it",
    async (line) => {
      const socket = await open(site.port);
      const isRefused = new Promise((resolve) => socket.once("close", resolve));
      socket.write(`${line} HTTP/1.1\r\n${host}Content-Length: 1000000000\r\n\r\n`);
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(answer.toString()).toContain("Connection: close");
      socket.resume();
      const megabyte = Buffer.alloc(1_000_000);
      let accepted = 0;
      const isTaken = () => new Promise<boolean>((done) => socket.write(megabyte, (error) => done(!error)));
      while (accepted < 100 && (await Promise.race([isTaken(), isRefused.then(() => false)]))) accepted++;
      expect(accepted).toBeLessThan(100);
    },
  );

  it("keeps running after clients reset their connections, also after CONNECT", async () => {
    const connectMethod = `CONNECT localhost:5432 HTTP/1.1\r\n${host}\r\n`;
    for (const bytes of [get, chunked, signup, connectMethod]) {
      const accepted = once(site.http.server, "connection") as Promise<[Socket]>;
      const socket = await open(site.port);
      const [serverSocket] = await accepted;
      const closed = once(serverSocket, "close").catch(() => undefined); // The reset is an error.
      socket.write(bytes);
      await vi.waitUntil(() => serverSocket.bytesRead >= bytes.length || serverSocket.destroyed);
      socket.resetAndDestroy();
      await closed;
    }
    expect((await fetch(`http://127.0.0.1:${site.port}/healthz`)).status).toBe(200);
  });
});

it("the server disconnects a client that sends a sign-up before the response to another, and parses no more", async () => {
  const joined: string[] = [];
  const site = await start({ waitlist: { join: async ({ email }) => void joined.push(email) } });
  let parsed = 0;
  site.http.server.on("request", () => parsed++);
  await exchange(site.port, signup.repeat(300));
  expect(joined.length).toBeLessThanOrEqual(1);
  expect(parsed).toBe(2);
  await stop(site);
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
  await site.close();
});

describe("a slow client", () => {
  const shortTimeouts = { ...directTimeouts, headers: 200, request: 400, check: 20, inactivity: 300, keepAlive: 100 };
  let site: Started;
  beforeAll(async () => {
    // Larger than the socket buffers of both ends.
    const large = cacheResponse({ identity: Buffer.alloc(16_000_000) }, 200, {});
    const frontend = await createBuiltFrontend({
      origin: "http://localhost:3000",
      allowIndexing: true,
      settings: testSettings,
    });
    site = await start({ frontend: { ...frontend, files: new Map([["/large", large]]) } }, shortTimeouts);
  });
  afterAll(() => stop(site));
  let drip: NodeJS.Timeout;
  afterEach(() => {
    clearInterval(drip);
    site.http.server.requestTimeout = shortTimeouts.request;
  });

  /** Sends the bytes and then one byte every 10 ms until the server closes the connection. */
  async function sendSlowly(bytes: string): Promise<string> {
    const socket = await open(site.port);
    socket.write(bytes);
    drip = setInterval(() => socket.write("x"), 10);
    return receive(socket);
  }

  it("gets 408 if its headers take too long", async () => {
    site.http.server.requestTimeout = 60_000; // It would cause a 408 as well.
    expect(statuses(await sendSlowly(`${get}X: `))).toEqual(["408"]);
  });

  it("gets 408 if its body takes too long", async () => {
    expect(statuses(await sendSlowly(`${post}Content-Length: 1000\r\n\r\n`))).toEqual(["408"]);
  });

  it("is disconnected if it sends nothing", async () => {
    const socket = await open(site.port);
    await text(socket);
    expect(socket.bytesWritten).toBe(0);
  });

  it("is disconnected if it sends no further request", async () => {
    expect(await exchange(site.port, healthz)).toMatch(/\{"status":"ok"\}$/);
  });

  it("is disconnected if it does not read the response", async () => {
    const socket = await open(site.port);
    socket.pause();
    socket.write(`GET /large HTTP/1.1\r\n${host}\r\n`);
    const [, answer] = (await once(site.http.server, "request")) as [IncomingMessage, ServerResponse];
    await once(answer, "close");
    expect(site.logged()).toContain('"path":"/large","status":"aborted"');
    socket.destroy();
  });
});
