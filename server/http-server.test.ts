// The HTTP server itself: what Express never gets to see.
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestApp, type TestApp } from "../tests/support/app.ts";
import { createHttpServer, type HttpServer } from "./http-server.ts";

let site: TestApp;
let http: HttpServer;
let port: number;

beforeAll(async () => {
  site = await createTestApp("postgresql://unused:unused@127.0.0.1:1/unused");
  http = createHttpServer();
  http.handle(site.app);
  port = await http.listen("127.0.0.1", 0);
});

afterAll(async () => {
  await http.close();
  await site.close();
});

it.each(["http://[::1", "http://[::1/", "http://", "http://xn--/", "*"])(
  "%s is answered as an unknown page",
  async (target) => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(answer).toContain("Content-Security-Policy: default-src 'none'");
    expect(answer).toContain("X-Request-Id: ");
  },
);

it("makes requests and responses as Express has them, so that their prototypes never change", async () => {
  const prototypes: unknown[] = [];
  http.server.prependOnceListener("request", (req, res) => {
    prototypes.push(Object.getPrototypeOf(req), Object.getPrototypeOf(res));
  });
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  expect(prototypes[0]).toBe(site.app.express.request);
  expect(prototypes[1]).toBe(site.app.express.response);
});
