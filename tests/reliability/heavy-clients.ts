// Clients that hold many connections, send without end, or send invalid HTTP: no crash, no 5xx, no lasting memory.
import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { StackScenarios } from "../support/stack.ts";
import { until } from "../support/until.ts";
import {
  assertHealthy,
  assertResponses,
  exchange,
  getPage,
  host,
  memoryMargin,
  openConnections,
  postJson,
  residentMemory,
  signupRequest,
} from "./connections.ts";
import { startVisits } from "../support/visitors.ts";

const chunked = "Transfer-Encoding: chunked\r\n\r\n";

const invalidRequests: [bytes: string, status: number][] = [
  [`${getPage}X: ${"x".repeat(20_000)}\r\n\r\n`, 431],
  [`${getPage}${"X: y\r\n".repeat(20_000)}\r\n`, 431],
  [`GET /${"x".repeat(1_000_000)} HTTP/1.1\r\n${host}\r\n`, 431],
  [`${postJson}${chunked}xyz\r\n`, 400],
  [`${postJson}${chunked}1\r\n{}\r\n0\r\n\r\n`, 400],
  [`${postJson}${chunked}FFFFFFFFFFFFFFFFF\r\n`, 400],
  [`${postJson}${chunked}1;${"x".repeat(20_000)}\r\n`, 413],
  [`${postJson}Content-Length: 5\r\n${chunked}0\r\n\r\n`, 400],
  [`${getPage}X: a\u0000b\r\n\r\n`, 400],
  ["GET / HTTP/1.1\r\n\r\n", 400],
  ["\u0016\u0003\u0001\u0002\u0000\u0001", 400],
];

export const heavyClients: StackScenarios = {
  "2,000 idle connections": async (stack) => {
    const site = await stack.startSite();
    // Warm-up: V8 keeps some of the memory that the first connections took.
    const first = await openConnections(site, 2_000);
    for (const socket of first.sockets) socket.write(`${getPage}\r\n`);
    await until("all have a response", () => first.received.every(Boolean));
    first.destroy();
    await first.closed();
    const before = residentMemory(site);
    const stopVisits = startVisits(site);
    const { sockets, received, open, closed, destroy } = await openConnections(site, 2_000);
    // Half of them send one request, the others none.
    for (const socket of sockets.slice(1_000)) socket.write(`${getPage}\r\n`);
    await sleep(2_000);
    assert.equal(open(), 2_000);
    const during = residentMemory(site);
    const client = await openConnections(site, 1, { reads: false });
    assert.match((await exchange(client.sockets[0] as Socket, signupRequest("idle"))) ?? "", /^HTTP\/1\.1 201 /);
    client.destroy();
    const seconds = await closed();
    assertResponses(received.slice(1_000), [200]);
    destroy();
    const visits = await stopVisits();
    await assertHealthy(site);
    const after = residentMemory(site);
    const memory = `memory ${before} MB before, ${during} MB during, ${after} MB after`;
    assert(after <= before + memoryMargin, memory);
    return `a sign-up stored beside 2,000 connections, all closed after ${seconds.toFixed(1)} s; ${memory}; ${visits}`;
  },
  "oversized headers, invalid chunks and invalid HTTP": async (stack) => {
    const site = await stack.startSite();
    const stopVisits = startVisits(site);
    for (const [bytes, status] of invalidRequests) {
      const { sockets, received, destroy } = await openConnections(site, 300);
      const ended = sockets.map((socket) => once(socket, "end").catch(() => undefined));
      for (const socket of sockets) socket.write(bytes, "latin1");
      await Promise.all(ended);
      // If the site closes while a megabyte is on its way, TCP resets the connection and may discard the response.
      assertResponses(received, [status], bytes.length > 100_000);
      destroy();
    }
    const visits = await stopVisits();
    await assertHealthy(site);
    const memory = residentMemory(site);
    return `300 of each of ${invalidRequests.length} kinds refused; memory ${memory} MB; ${visits}`;
  },
};
