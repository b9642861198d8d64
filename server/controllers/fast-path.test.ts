// The fast path, whose responses are those of Express byte for byte.
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestApp, noDatabase, type TestApp } from "../../tests/support/app.ts";
import { createHttpServer, type HttpServer } from "../http/server.ts";

interface Server {
  site: TestApp;
  http: HttpServer;
  port: number;
}

let fast: Server;
let slow: Server;
let script: string;
let etag: string;

async function start(fastPath: boolean): Promise<Server> {
  const site = await createTestApp(noDatabase, { fastPath, waitlist: { join: async () => undefined } });
  const http = createHttpServer();
  http.serve(site.application);
  return { site, http, port: await http.listen("127.0.0.1", 0) };
}

beforeAll(async () => {
  [fast, slow] = await Promise.all([start(true), start(false)]);
  const page = await fetch(`http://127.0.0.1:${slow.port}/`, { headers: { "Accept-Encoding": "br" } });
  etag = page.headers.get("etag") as string;
  script = /src="(\/assets\/[^"]+\.js)"/.exec(await page.text())?.[1] as string;
});

afterAll(async () => {
  for (const { http, site } of [fast, slow]) {
    await http.close();
    await site.close();
  }
});

/** Returns the bytes of the response, as Latin-1, without the request id and the date. */
async function respond({ port }: Server, request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1").setEncoding("latin1");
  await once(socket, "connect");
  socket.write(request);
  const response = await text(socket);
  return response.replace(/(?<=X-Request-Id: )[\da-f-]{36}/, "ID").replace(/(?<=Date: ).+/, "DATE");
}

const paths = [
  "/ /?joined /?joined=1 /?utm_source=x /? /404 /nope /nope?x // /% /index.html *",
  "/favicon.svg /favicon.svg?x /robots.txt /sitemap.xml SCRIPT SCRIPT?x",
  "/healthz /api /api/nope /api/earlyaccess http://localhost/ http://localhost/favicon.svg",
].flatMap((line) => line.split(" "));

const headers: [name: string, lines: string][] = [
  ["no header", ""],
  ["brotli", "Accept-Encoding: gzip, deflate, br, zstd\r\n"],
  ["gzip", "Accept-Encoding: gzip\r\n"],
  ["no coding", "Accept-Encoding: identity;q=0, *;q=0\r\n"],
  ["the ETag", "Accept-Encoding: br\r\nIf-None-Match: ETAG\r\n"],
  ["any ETag", "If-None-Match: *\r\n"],
  ["a reload", "Accept-Encoding: br\r\nIf-None-Match: ETAG\r\nCache-Control: no-cache\r\n"],
  ["a range", "Range: bytes=0-1\r\n"],
  ["a browser", "Accept: text/html,*/*;q=0.8\r\n"],
  ["two hosts", "Host: other\r\n"],
  ["too many headers", "X: y\r\n".repeat(100)],
];

async function expectEqualResponses(request: string, description: string[]): Promise<void> {
  const [withFastPath, withExpress] = await Promise.all([respond(fast, request), respond(slow, request)]);
  expect([...description, withFastPath]).toEqual([...description, withExpress]);
}

it.each(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])("%s returns the response of Express", async (method) => {
  for (const path of paths) {
    for (const [name, lines] of headers) {
      const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${lines}\r\n`;
      await expectEqualResponses(head.replace("SCRIPT", script).replace("ETAG", etag), [path, name]);
    }
  }
});

it.each([
  "GET / HTTP/1.0\r\n\r\n",
  "GET / HTTP/1.1\r\n\r\n",
  "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx",
])("%j returns the response of Express", (request) => expectEqualResponses(request, []));
