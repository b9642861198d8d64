// The HTTP server below Express: malformed requests, pipelining, slow clients and shutdown.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createTestApp, noDatabase, type TestApp, testSettings } from "../../tests/support/app.ts";
import type { AppOptions } from "../app.ts";
import { createHttpServer, type HttpServer } from "./server.ts";
import { createBuiltFrontend } from "../views/frontend.ts";
import { directTimeouts } from "./timeouts.ts";
import { cacheResponse } from "./cached-response.ts";

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
  return text(socket);
}

function expectProblem(answer: string, status: number): void {
  const [head = "", body = ""] = answer.split("\r\n\r\n", 2);
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head).toContain("Content-Type: application/problem+json");
  expect(head).toContain("Content-Security-Policy: default-src 'none'");
  expect(head).toContain("X-Content-Type-Options: nosniff");
  expect(head).toContain("Connection: close");
  expect(JSON.parse(body)).toMatchObject({ type: "about:blank", status, detail: expect.stringMatching(/\.$/) });
}

const host = "Host: localhost\r\n";
const get = `GET / HTTP/1.1\r\n${host}`;
const healthz = `GET /healthz HTTP/1.1\r\n${host}\r\n`;
const post = `POST /api/earlyaccess HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;
const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;
const entry = JSON.stringify({ name: "Ada", email: "ada@example.com", company: "Engines" });
const signup = `${post}Content-Length: ${entry.length}\r\n\r\n${entry}`;
const connectMethod = `CONNECT localhost:5432 HTTP/1.1\r\n${host}\r\n`;

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
    "http://[::1",
    "http://[::1/",
    "http://",
    "http://xn--%C3%BC/",
    "ftp://localhost/",
    "//a@[x#y",
    "//z@h/#",
    "/#",
    "/healthz#",
    "http://localhost/nope",
    "*",
  ])("returns 404 for the request target %s", async (target) => {
    const answer = await exchange(site.port, closing(`GET ${target} HTTP/1.1\r\n${host}\r\n`));
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
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
    [431, "20,000 headers", `${get}${"X: y\r\n".repeat(20_000)}\r\n`],
    [431, "101 headers", `${get}${"X: y\r\n".repeat(100)}\r\n`],
    [431, "a sign-up with over 100 headers", withHeaders(signup, "X: y\r\n".repeat(100))],
    [431, "a path of 1 MB", `GET /${"x".repeat(1_000_000)} HTTP/1.1\r\n${host}\r\n`],
    [400, "no Host", "GET / HTTP/1.1\r\n\r\n"],
    [400, "a sign-up without Host", signup.replace(host, "")],
    [400, "two Host headers", `GET / HTTP/1.1\r\n${host}${host}\r\n`],
    [400, "two Host headers in HTTP/1.0", `GET / HTTP/1.0\r\n${host}hOST: other\r\n\r\n`],
    [400, "a sign-up with two Host headers", withHeaders(signup, "HOST: other.example\r\n")],
    [405, "CONNECT", connectMethod],
  ])("returns %i with a problem document and the security headers for %s", async (status, _, bytes) => {
    expectProblem(await exchange(site.port, bytes), status);
  });

  it("returns 400 for a request that ends within its headers", async () => {
    const socket = await open(site.port);
    socket.end(`${get}Accept: */*\r\n`);
    expectProblem(await text(socket), 400);
  });

  it.each([
    ["an unknown expectation", closing(`${get}Expect: miracles\r\n\r\n`)],
    ["an upgrade to an unsupported protocol", `${get}Upgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n`],
    ["HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n"],
    ["an absolute URL as target", closing(`GET http://localhost/ HTTP/1.1\r\n${host}\r\n`)],
    ["an absolute URL without a path", closing(`GET http://localhost:3000 HTTP/1.1\r\n${host}\r\n`)],
    ["another site's URL with a query", closing(`GET https://x.example/?joined HTTP/1.1\r\n${host}\r\n`)],
  ])("returns the page for %s", async (_, bytes) => {
    const answer = await exchange(site.port, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain("Content-Security-Policy: default-src 'none'");
    expect(answer).toMatch(/<\/html>\s*$/);
  });

  it("sends the response to a sign-up before the response to a CONNECT after it", async () => {
    expect(statuses(await exchange(site.port, signup + connectMethod))).toEqual(["201", "405"]);
  });

  it("sends the response to a valid request before the response to a malformed one after it", async () => {
    const answer = await exchange(site.port, `${healthz}GARBAGE\r\n\r\n`);
    const [first = "", second = ""] = answer.split(/(?<=\})(?=HTTP)/);
    expect(first).toMatch(/^HTTP\/1\.1 200 [^]*\{"status":"ok"\}$/);
    expectProblem(second, 400);
  });

  it.each(["application/json", "application/x-www-form-urlencoded"])(
    "returns 413 for an endless chunked body of %s and closes the connection",
    async (type) => {
      const chunk = `8000\r\n${"x".repeat(0x80_00)}\r\n`;
      expectProblem(await exchange(site.port, chunked.replace("application/json", type) + chunk.repeat(3)), 413);
    },
  );

  it("keeps running after clients reset their connections, also after CONNECT", async () => {
    for (const bytes of [get, chunked, signup, connectMethod]) {
      const socket = await open(site.port);
      const closed = new Promise((done) =>
        site.http.server.once("request", ({ socket: accepted }) => accepted.on("close", done)).once("connect", done),
      );
      socket.write(bytes);
      if (bytes !== get) await Promise.race([once(socket, "data"), sleep(50)]);
      socket.resetAndDestroy();
      if (bytes !== get) await closed;
    }
    expect((await fetch(`http://127.0.0.1:${site.port}/healthz`)).status).toBe(200);
  });

  it("accepts more than 20 requests of one packet if it answers each at once", async () => {
    const answer = await exchange(site.port, healthz.repeat(21) + closing(healthz));
    expect(statuses(answer)).toEqual(Array(22).fill("200"));
  });
});

it("the server disconnects a client that pipelines more than 20 sign-ups, and parses no more of them", async () => {
  const joined: string[] = [];
  const site = await start({ waitlist: { join: async ({ email }) => void joined.push(email) } });
  let parsed = 0;
  site.http.server.on("request", () => parsed++);
  await exchange(site.port, signup.repeat(300));
  expect(joined.length).toBeLessThanOrEqual(21);
  expect(parsed).toBe(22);
  expect(statuses(await exchange(site.port, signup.repeat(19) + closing(signup)))).toEqual(Array(20).fill("201"));
  await stop(site);
});

it("the rate limiter counts each of 20 pipelined sign-ups", async () => {
  const joined: string[] = [];
  const waitlist = { join: async ({ email }: { email: string }) => void joined.push(email) };
  const site = await start({ waitlist, signups: { limit: 10, windowSeconds: 600 } });
  const answer = await exchange(site.port, signup.repeat(19) + closing(signup));
  expect(statuses(answer)).toEqual([...Array<string>(10).fill("201"), ...Array<string>(10).fill("429")]);
  expect(joined).toHaveLength(10);
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
  const shortTimeouts = { ...directTimeouts, headers: 200, request: 400, check: 20, read: 200, keepAlive: 100 };
  let site: Started;
  let joined: Promise<unknown> = Promise.resolve();
  beforeAll(async () => {
    // Larger than the socket buffers of both ends.
    const large = cacheResponse({ identity: Buffer.alloc(16_000_000) }, 200, {});
    const waitlist = { join: async () => void (await joined) };
    const frontend = await createBuiltFrontend({
      origin: "http://localhost:3000",
      allowIndexing: true,
      settings: testSettings,
    });
    site = await start({ waitlist, frontend: { ...frontend, files: new Map([["/large", large]]) } }, shortTimeouts);
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
    return text(socket);
  }

  it("gets 408 if its headers take too long", async () => {
    site.http.server.requestTimeout = 60_000; // It would cause a 408 as well.
    expectProblem(await sendSlowly(`${get}X: `), 408);
  });

  it("gets 408 if its body takes too long", async () => {
    expectProblem(await sendSlowly(`${post}Content-Length: 1000\r\n\r\n`), 408);
  });

  it("gets one response if it is still sending a body that no handler reads", async () => {
    const answer = await sendSlowly(withHeaders(healthz, "Content-Length: 1000\r\n"));
    expect(statuses(answer)).toEqual(["200"]);
  });

  it("gets no response on an unused connection, because browsers open connections in advance", async () => {
    expect(await text(await open(site.port))).toBe("");
  });

  it("is disconnected if it sends no further request", async () => {
    expect(await exchange(site.port, healthz)).toMatch(/\{"status":"ok"\}$/);
  });

  it("is disconnected if it does not read the response", async () => {
    const socket = await open(site.port);
    socket.pause();
    socket.write(`GET /large HTTP/1.1\r\n${host}\r\n`);
    const [, answer] = (await once(site.http.server, "request")) as [IncomingMessage, ServerResponse];
    const began = performance.now();
    await once(answer, "close");
    expect(performance.now() - began).toBeGreaterThan(shortTimeouts.read - shortTimeouts.check);
    expect(site.logged()).toContain('"path":"/large","status":"aborted"');
    socket.destroy();
  });

  it("is not one that waits for a slow response", async () => {
    joined = sleep(3 * shortTimeouts.read);
    expect(await exchange(site.port, signup)).toMatch(/^HTTP\/1\.1 201 /);
  });
});
