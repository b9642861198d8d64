// The proxy in front of Prisma Studio, with a test server in place of Studio.
import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { createStudioProxy } from "./proxy.ts";

it("forwards a chunked body as the body of its request, not as a second request", async () => {
  const received: string[] = [];
  const studio = createServer(async (incoming, outgoing) => {
    received.push(`${incoming.method} ${incoming.url} ${await text(incoming)}`);
    outgoing.end("<head></head>");
  }).listen(0, "127.0.0.1");
  await once(studio, "listening");
  const proxy = createServer(await createStudioProxy((studio.address() as AddressInfo).port)).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  const body = "POST /bff HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const sent = request({ host: "127.0.0.1", port, path: "/x", headers: { "transfer-encoding": "chunked" } });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  await text(response);
  expect(received).toEqual(["GET / ", `GET /x ${body}`]);
  for (const server of [proxy, studio]) {
    server.closeAllConnections();
    server.close();
  }
});
