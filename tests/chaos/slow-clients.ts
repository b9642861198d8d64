// Clients that send or read very slowly: the site closes their connections within 20 s, and no other visitor is affected.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { builtClient } from "../../server/views/renderer.ts";
import type { StackScenarios } from "../support/stack.ts";
import { assertHealthy, assertResponses, getPage, host, openConnections, postJson } from "./connections.ts";
import { startVisits } from "../support/visitors.ts";

const count = 400;

/** What a client sends at once, what it sends each second, and the status of the response; it may get none. */
const slowSenders: [first: string, eachSecond: string, status: number][] = [
  [`${getPage}X: `, "x", 408],
  [getPage, "X: y\r\n", 408],
  ["G", "", 408],
  ["", "", 408],
  [`${postJson}Content-Length: 200\r\n\r\n{`, " ", 408],
  [`${postJson}Transfer-Encoding: chunked\r\n\r\n`, "1\r\n \r\n", 408],
  [`${postJson}Content-Length: 200\r\n\r\n`, "", 408],
  [`${getPage}Content-Length: 200\r\n\r\n`, " ", 200],
];

export const slowClients: StackScenarios = {
  "clients send headers or bodies slowly": async (stack) => {
    const site = await stack.startSite();
    const stopVisits = startVisits(site);
    const { sockets, received, closed, destroy } = await openConnections(site, count);
    const kindOf = (i: number) => slowSenders[i % slowSenders.length] as (typeof slowSenders)[number];
    for (const [i, socket] of sockets.entries()) socket.write(kindOf(i)[0]);
    const timer = setInterval(() => {
      for (const [i, socket] of sockets.entries()) if (socket.writable) socket.write(kindOf(i)[1]);
    }, 1_000).unref();
    const seconds = await closed();
    clearInterval(timer);
    destroy();
    const visits = await stopVisits();
    for (const [i, response] of received.entries()) assertResponses([response], [kindOf(i)[2]], true);
    await assertHealthy(site);
    return `all ${count} connections closed after ${seconds.toFixed(1)} s; ${visits}`;
  },
  "clients read slowly or not at all": async (stack) => {
    const site = await stack.startSite();
    const stopVisits = startVisits(site);
    const never = await openConnections(site, count / 2, { reads: false });
    for (const socket of never.sockets) socket.pause();
    // Reads one byte and pauses, until it is resumed.
    const onread = { buffer: Buffer.alloc(1), callback: () => false };
    const byByte = await openConnections(site, count / 2, { reads: false, onread });
    const largest = `GET ${largestAsset()} HTTP/1.1\r\n${host}\r\n`;
    // Most clients request more than the system buffers, and every fifth one page, which it buffers.
    for (const { sockets } of [never, byByte])
      for (const [i, socket] of sockets.entries()) socket.write(i % 5 === 0 ? `${getPage}\r\n` : largest.repeat(25));
    const timer = setInterval(() => byByte.sockets.forEach((socket) => socket.resume()), 1_000).unref();
    const seconds = Math.max(...(await Promise.all([never.closed(), byByte.closed()])));
    clearInterval(timer);
    for (const { destroy } of [never, byByte]) destroy();
    const visits = await stopVisits();
    await assertHealthy(site);
    return `all ${count} connections closed after ${seconds.toFixed(1)} s; ${visits}`;
  },
};

function largestAsset(): string {
  const assets = join(builtClient, "assets");
  const sizes = readdirSync(assets).map((name) => ({ name, size: statSync(join(assets, name)).size }));
  return `/assets/${sizes.toSorted((a, b) => b.size - a.size)[0]?.name}`;
}
