// The HTTP server itself: what Express never gets to see.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createTestApp, type TestApp } from "../tests/support/app.ts";
import type { Parts } from "./app.ts";
import { createHttpServer, type HttpServer } from "./http-server.ts";
import { directTimeouts } from "./timeouts.ts";
import { storeResponse } from "./views/stored-response.ts";

interface Started extends TestApp {
  http: HttpServer;
  port: number;
}

async function start(changes: Partial<Parts> = {}, timeouts = directTimeouts): Promise<Started> {
  const given = { waitlist: { join: async () => undefined }, ...changes };
  const app = await createTestApp("postgresql://unused:unused@127.0.0.1:1/unused", given);
  const http = createHttpServer(timeouts);
  http.handle(app.app);
  return { ...app, http, port: await http.listen("127.0.0.1", 0) };
}

async function stop(site: Started): Promise<void> {
  await site.http.close();
  await site.close();
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => undefined); // Writing into what the server closed.
  return socket;
}

/** All that is answered to these bytes, until the server closes the connection. */
async function answerTo(port: number, bytes: string): Promise<string> {
  const socket = await open(port);
  socket.write(bytes);
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
const post = `POST /api/earlyaccess HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;
const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;
const entry = JSON.stringify({ name: "Ada", email: "ada@example.com", company: "Engines" });
const signup = `${post}Content-Length: ${entry.length}\r\n\r\n${entry}`;

describe("the server", () => {
  let site: Started;
  beforeAll(async () => {
    site = await start();
  });
  afterAll(() => stop(site));

  it.each(["http://[::1", "http://[::1/", "http://", "http://xn--%C3%BC/", "*"])(
    "answers %s as an unknown page",
    async (target) => {
      const answer = await answerTo(site.port, `GET ${target} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 404 /);
      expect(answer).toContain("Content-Security-Policy: default-src 'none'");
      expect(answer).toContain("X-Request-Id: ");
    },
  );

  it("makes requests and responses as Express has them, so that their prototypes never change", async () => {
    const prototypes: unknown[] = [];
    site.http.server.prependOnceListener("request", (req, res) => {
      prototypes.push(Object.getPrototypeOf(req), Object.getPrototypeOf(res));
    });
    expect((await fetch(`http://127.0.0.1:${site.port}/healthz`)).status).toBe(200);
    expect(prototypes[0]).toBe(site.app.express.request);
    expect(prototypes[1]).toBe(site.app.express.response);
  });

  it.each([
    ["what is not HTTP", 400, "GARBAGE\r\n\r\n"],
    ["TLS", 400, "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00FC\u0003\u0003"],
    ["a request that ends within its headers", 400, `${get}Accept: */*\r\n`],
    ["a NUL in a header", 400, `${get}X: a\u0000b\r\n\r\n`],
    ["a carriage return in a header", 400, `${get}X: a\rb\r\n\r\n`],
    ["a folded header", 400, `${get}X : a\r\n\r\n`],
    ["two lengths", 400, `${post}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`],
    [
      "a length and chunks, as in smuggling",
      400,
      `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["an encoding after chunked", 400, `${post}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
    ["a chunk without a size", 400, `${chunked}xyz\r\n`],
    ["a chunk that is longer than its size", 400, `${chunked}1\r\n{}\r\n0\r\n\r\n`],
    ["long chunk extensions", 413, `${chunked}1;${"x".repeat(20_000)}\r\n`],
    ["long headers", 431, `${get}X: ${"x".repeat(20_000)}\r\n\r\n`],
    ["many headers", 431, `${get}${"X: y\r\n".repeat(20_000)}\r\n`],
    ["an address of 1 MB", 431, `GET /${"x".repeat(1_000_000)} HTTP/1.1\r\n${host}\r\n`],
    ["no host", 400, "GET / HTTP/1.1\r\n\r\n"],
    ["a sign-up without host", 400, signup.replace(host, "")],
    ["101 headers", 431, `${get}${"X: y\r\n".repeat(100)}\r\n`],
    ["an address appended after 100 headers", 431, signup.replace(host, host + "X: y\r\n".repeat(100))],
    ["two hosts", 400, `GET / HTTP/1.1\r\n${host}${host}\r\n`],
    ["two hosts in HTTP/1.0", 400, `GET / HTTP/1.0\r\n${host}hOST: other\r\n\r\n`],
    ["a sign-up with two hosts", 400, signup.replace(host, `${host}HOST: other.example\r\n`)],
    ["CONNECT", 405, `CONNECT localhost:5432 HTTP/1.1\r\n${host}\r\n`],
  ])("answers %s with %i, a problem document and the security headers", async (what, status, bytes) => {
    const socket = await open(site.port);
    if (what.includes("ends within")) socket.end(bytes);
    else socket.write(bytes, "latin1");
    expectProblem(await text(socket), status);
  });

  it.each([
    ["an unknown expectation", `${get}Expect: miracles\r\nConnection: close\r\n\r\n`],
    ["an upgrade to what it does not speak", `${get}Upgrade: h2c\r\nConnection: Upgrade, close\r\n\r\n`],
    ["HTTP/1.0 without a host", "GET / HTTP/1.0\r\n\r\n"],
    ["a whole address as target", `GET http://localhost/ HTTP/1.1\r\n${host}Connection: close\r\n\r\n`],
  ])("answers %s with the page", async (_what, bytes) => {
    const answer = await answerTo(site.port, bytes);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain("Content-Security-Policy: default-src 'none'");
    expect(answer).toMatch(/<\/html>\s*$/);
  });

  it("answers a sign-up before the CONNECT that follows it", async () => {
    const answer = await answerTo(site.port, `${signup}CONNECT localhost:5432 HTTP/1.1\r\n${host}\r\n`);
    expect(answer.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(["201", "405"]);
  });

  it("answers what came before something broken first", async () => {
    const answer = await answerTo(site.port, `GET /healthz HTTP/1.1\r\n${host}\r\nGARBAGE\r\n\r\n`);
    const [first = "", second = ""] = answer.split(/(?<=\})(?=HTTP)/);
    expect(first).toMatch(/^HTTP\/1\.1 200 [^]*\{"status":"ok"\}$/);
    expectProblem(second, 400);
  });

  it.each(["application/json", "application/x-www-form-urlencoded"])(
    "refuses a chunked body of %s without end with 413 and closes",
    async (type) => {
      const chunk = `8000\r\n${"x".repeat(0x80_00)}\r\n`;
      const answer = await answerTo(site.port, chunked.replace("application/json", type) + chunk.repeat(3));
      expectProblem(answer, 413);
    },
  );

  it("lives on when a client resets the connection, also after CONNECT", async () => {
    for (const bytes of [get, chunked, signup, `CONNECT localhost:1 HTTP/1.1\r\n${host}\r\n`]) {
      const socket = await open(site.port);
      const closed = new Promise((done) =>
        site.http.server.once("request", ({ socket: theirs }) => theirs.on("close", done)).once("connect", done),
      );
      socket.write(bytes);
      if (bytes !== get) await Promise.race([once(socket, "data"), sleep(50)]);
      socket.resetAndDestroy();
      if (bytes !== get) await closed;
    }
    expect((await fetch(`http://127.0.0.1:${site.port}/healthz`)).status).toBe(200);
  });
});

it("answers fifty requests ahead, says that it closes, and does nothing about the others", async () => {
  const joined: string[] = [];
  const site = await start({ waitlist: { join: async ({ email }) => void joined.push(email) } });
  const answer = await answerTo(site.port, signup.repeat(300));
  // The first was not ahead of any.
  expect(answer.match(/HTTP\/1\.1 201/g)).toHaveLength(51);
  expect(answer.match(/Connection: close/g)).toHaveLength(1);
  expect(joined).toHaveLength(51);
  await stop(site);
});

it("does not count requests as ahead that came together and are answered already", async () => {
  const site = await start();
  const asking = `GET /healthz HTTP/1.1\r\n${host}\r\n`;
  const answer = await answerTo(site.port, asking.repeat(51) + asking.replace(host, `${host}Connection: close\r\n`));
  expect(answer.match(/HTTP\/1\.1 200/g)).toHaveLength(52);
  await stop(site);
});

it("counts every one of 50 sign-ups that come at once on one connection", async () => {
  const site = await start({ signups: { limit: 10, windowSeconds: 600 } });
  const closing = signup.replace(host, `${host}Connection: close\r\n`);
  const answer = await answerTo(site.port, signup.repeat(49) + closing);
  const statuses = answer.match(/(?<=HTTP\/1\.1 )\d+/g);
  expect(statuses).toEqual([...Array<string>(10).fill("201"), ...Array<string>(40).fill("429")]);
  await stop(site);
});

it("answers 500 to a fault before Express, logs it, and goes on", async () => {
  let broken = true;
  const findStored = () => {
    if (broken) throw new Error("ada@example.com");
    return undefined;
  };
  const site = await start({ findStored });
  expectProblem(await answerTo(site.port, get.concat("Connection: close\r\n\r\n")), 500);
  expect(site.logged()).toMatch(/"status":500,"error":\{"name":"Error","stack":".*findStored/);
  expect(site.logged()).not.toContain("@example");
  broken = false;
  expect((await fetch(`http://127.0.0.1:${site.port}/`)).status).toBe(405);
  await stop(site);
});

it("answers a request that comes while it stops, and says that it closes", async () => {
  const site = await start({}, { ...directTimeouts, stopping: 2_000 });
  const kept = await open(site.port);
  const idle = await open(site.port);
  const healthz = `GET /healthz HTTP/1.1\r\n${host}\r\n`;
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

describe("a client that is slow", () => {
  const hurried = { ...directTimeouts, headers: 200, request: 400, check: 20, reading: 200, kept: 100 };
  let site: Started;
  let joined: Promise<unknown> = Promise.resolve();
  beforeAll(async () => {
    // More than the system holds for the two ends of a connection.
    const large = storeResponse({ identity: Buffer.alloc(16_000_000) }, 200, {});
    const waitlist = { join: async () => void (await joined) };
    site = await start({ waitlist, findStored: (path) => (path === "/large" ? large : undefined) }, hurried);
  });
  afterAll(() => stop(site));
  let drip: NodeJS.Timeout;
  afterEach(() => {
    clearInterval(drip);
    site.http.server.requestTimeout = hurried.request;
  });

  /** Sends a byte every few milliseconds, for as long as the server takes them. */
  async function dripping(bytes: string): Promise<string> {
    const socket = await open(site.port);
    socket.write(bytes);
    drip = setInterval(() => socket.write("x"), 10);
    return text(socket);
  }

  it("in sending its headers is told 408", async () => {
    site.http.server.requestTimeout = 60_000; // Which would say so as well.
    expectProblem(await dripping(`${get}X: `), 408);
  });

  it("in sending its body is told 408", async () => {
    expectProblem(await dripping(`${post}Content-Length: 1000\r\n\r\n`), 408);
  });

  it("in sending a body that nobody waits for gets the one answer that it has already", async () => {
    const answer = await dripping(`GET /healthz HTTP/1.1\r\n${host}Content-Length: 1000\r\n\r\n`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
  });

  it("in sending anything at all is told nothing, as browsers open connections in advance", async () => {
    expect(await text(await open(site.port))).toBe("");
  });

  it("in asking again has its connection closed", async () => {
    expect(await answerTo(site.port, `GET /healthz HTTP/1.1\r\n${host}\r\n`)).toMatch(/\{"status":"ok"\}$/);
  });

  it("in reading is disconnected", async () => {
    const socket = await open(site.port);
    socket.pause();
    socket.write(`GET /large HTTP/1.1\r\n${host}\r\n`);
    const [, answer] = (await once(site.http.server, "request")) as [IncomingMessage, ServerResponse];
    const began = performance.now();
    await once(answer, "close");
    expect(performance.now() - began).toBeGreaterThan(hurried.reading - hurried.check);
    expect(site.logged()).toContain('"path":"/large","status":"aborted"');
    socket.destroy();
  });

  it("is not one that waits for an answer of ours", async () => {
    joined = sleep(3 * hurried.reading);
    expect(await answerTo(site.port, signup)).toMatch(/^HTTP\/1\.1 201 /);
  });
});
