// The limit on sign-ups: who counts as one client, and what cannot be forged.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import request from "supertest";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createTestApp, type TestApp } from "../../tests/support/app.ts";
import { rawRequest } from "../../tests/support/raw-request.ts";

const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };
const joined: string[] = [];
let site: TestApp;

async function start(limit: number, trustProxy = 0) {
  joined.length = 0;
  site = await createTestApp("postgresql://unused:unused@127.0.0.1:1/unused", {
    waitlist: {
      join: async ({ email }) => {
        joined.push(email);
      },
    },
    signups: { limit, windowSeconds: 600 },
    trustProxy,
  });
}

afterEach(async () => {
  vi.useRealTimers();
  await site.close();
});

const post = (headers: Record<string, string> = {}) =>
  request(site.app).post("/api/earlyaccess").set(headers).send(ada);

it("answers 429 with Retry-After and the draft fields, and stores nothing more", async () => {
  await start(2);
  const first = await post();
  expect(first.headers).toMatchObject({
    ratelimit: '"client"; r=1; t=600, "network"; r=19; t=600',
    "ratelimit-policy": expect.stringMatching(/^"client"; q=2; w=600; .*, "network"; q=20; w=600;/),
  });
  await post();
  const refused = await post();
  expect([refused.status, refused.type]).toEqual([429, "application/problem+json"]);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect(refused.headers.ratelimit).toContain("r=0");
  expect(joined).toHaveLength(2);
});

it("counts before it reads, so that refused and broken bodies cost their sender, too", async () => {
  await start(1);
  expect((await request(site.app).post("/api/earlyaccess").type("json").send("{")).status).toBe(400);
  expect((await request(site.app).post("/api/earlyaccess").type("json").send("{")).status).toBe(429);
});

it("is the client's own: reading pages costs nothing and is never refused", async () => {
  await start(1);
  await post();
  expect((await post()).status).toBe(429);
  expect((await request(site.app).get("/")).status).toBe(200);
});

it("ignores forged forwarding headers by default", async () => {
  await start(1);
  await post({ "X-Forwarded-For": "203.0.113.1" });
  const headers = { "X-Forwarded-For": "203.0.113.2", Forwarded: "for=203.0.113.2", "X-Real-IP": "203.0.113.2" };
  expect((await post(headers)).status).toBe(429);
});

it("behind one proxy believes only what that proxy appended", async () => {
  await start(1, 1);
  expect((await post({ "X-Forwarded-For": "203.0.113.1" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "203.0.113.2" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "198.51.100.9, 203.0.113.2" })).status).toBe(429);
});

it("behind a proxy that appends ports as well counts addresses, and what is none as the proxy", async () => {
  await start(1, 1);
  expect((await post({ "X-Forwarded-For": "203.0.113.1:1000" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "203.0.113.1:1001" })).status).toBe(429);
  expect((await post({ "X-Forwarded-For": "[2001:db8::1]:1000" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "[2001:db8::1]:1001" })).status).toBe(429);
  expect((await post({ "X-Forwarded-For": "unknown" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "somebody" })).status).toBe(429);
});

it("takes a /56 of IPv6 for one client, and each IPv4 address for one, also when it is mapped", async () => {
  await start(1, 1);
  expect((await post({ "X-Forwarded-For": "2001:db8:0:1200::1" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "2001:db8:0:12ff::2" })).status).toBe(429);
  expect((await post({ "X-Forwarded-For": "2001:db8:0:1300::1" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "::ffff:203.0.113.1" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "::ffff:203.0.113.2" })).status).toBe(201);
});

it("lasts no longer than its window when a clock that was ahead is put right", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_400_000 });
  await start(1);
  expect([(await post()).status, (await post()).status]).toEqual([201, 429]);
  vi.useRealTimers();
  const limited = await post();
  expect([limited.status, Number(limited.headers["retry-after"]) <= 600]).toEqual([429, true]);
});

it("does not count posts that another site made a visitor send", async () => {
  await start(1);
  for (let i = 0; i < 10; i++) expect((await post({ "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
  expect((await post()).status).toBe(201);
});

it("counts a client that hangs up before the answer", async () => {
  await start(1);
  const server = createServer(site.app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  socket.write(
    "POST /api/earlyaccess HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
  );
  const [, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
  socket.resetAndDestroy();
  await once(response, "close");
  expect((await fetch(`http://127.0.0.1:${port}/api/earlyaccess`, { method: "POST" })).status).toBe(429);
  server.close();
});

describe("of a network", () => {
  const from = (address: string) => post({ "X-Forwarded-For": address });

  it.each([
    ["an IPv4 /24", (i: number) => `203.0.113.${i}`, "203.0.113.255", "203.0.114.1"],
    ["an IPv6 /48", (i: number) => `2001:db8:0:${(i * 256).toString(16)}::1`, "2001:db8::ff00:0:0:1", "2001:db8:1::1"],
  ])("is ten times that of a client: %s", async (_, member, eleventh, stranger) => {
    await start(2, 1);
    for (let i = 0; i < 20; i++) expect((await from(member(i % 10))).status).toBe(201);
    const refused = await from(eleventh);
    expect([refused.status, Number(refused.headers["retry-after"]) > 0]).toEqual([429, true]);
    expect((await from(stranger)).status).toBe(201);
  });

  it("does not count what one of its clients sends above its own limit", async () => {
    await start(2, 1);
    for (let i = 0; i < 100; i++) await from("203.0.113.1");
    expect((await from("203.0.113.2")).status).toBe(201);
  });
});

describe("cannot be stepped around", () => {
  it.each([
    "/api/earlyaccess/",
    "//api/earlyaccess",
    "/API/EarlyAccess",
    "/api//earlyaccess",
    "/api/%65arlyaccess",
    "/api%2Fearlyaccess",
    "/api/earlyaccess%20",
    "/api/earlyaccess;x",
    "/api/./earlyaccess",
    "/x/../api/earlyaccess",
    "/api\\earlyaccess",
    "/api/earlyaccess%00",
  ])("%s is another address and so a 404", async (path) => {
    await start(1);
    const body = JSON.stringify(ada);
    const headers = { "Content-Type": "application/json", "Content-Length": String(body.length) };
    expect((await rawRequest(site.app, { method: "POST", path, headers, body })).status).toBe(404);
    expect(joined).toEqual([]);
  });

  it.each(["/api/earlyaccess?x=1", "/api/earlyaccess?/../y", "http://other.example/api/earlyaccess"])(
    "%s is the same address, with the same limit",
    async (path) => {
      await start(1);
      await post();
      const headers = { "Content-Type": "application/json", "Content-Length": "2" };
      expect((await rawRequest(site.app, { method: "POST", path, headers, body: "{}" })).status).toBe(429);
    },
  );

  it.each(["application/json", "application/x-www-form-urlencoded", "text/plain"])("by sending %s", async (type) => {
    await start(1);
    await post();
    expect((await request(site.app).post("/api/earlyaccess").type(type).send("x")).status).toBe(429);
  });

  it("by many requests in one go on one connection", async () => {
    await start(10);
    const server = createServer(site.app).listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    const body = JSON.stringify(ada);
    const head = `POST /api/earlyaccess HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    const requests = Array.from(
      { length: 50 },
      (_, i) => `${head}${i === 49 ? "\r\nConnection: close" : ""}\r\n\r\n${body}`,
    );
    socket.write(requests.join(""));
    const answers = (await text(socket)).match(/HTTP\/1\.1 \d+/g);
    server.close();
    expect(answers).toEqual([...Array(10).fill("HTTP/1.1 201"), ...Array(40).fill("HTTP/1.1 429")]);
    expect(joined).toHaveLength(10);
  });
});
