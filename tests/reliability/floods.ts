// Floods of requests: every request gets its response, and the site's memory stays bounded.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { StackScenarios } from "../support/stack.ts";
import { until } from "../support/until.ts";
import {
  assertHealthy,
  getPage,
  host,
  load,
  memoryMargin,
  openConnections,
  residentMemory,
  signupRequest,
} from "./connections.ts";

const formHeaders = "Accept: text/html\r\nContent-Type: application/x-www-form-urlencoded\r\n";
const quotes = `name=${'"'.repeat(100)}&company=${'"'.repeat(200)}`;
const largeResponses = [
  `${getPage}\r\n`,
  `GET /api/earlyaccess HTTP/1.1\r\n${host}${formHeaders}\r\n`,
  `POST /api/earlyaccess HTTP/1.1\r\n${host}${formHeaders}Content-Length: ${quotes.length}\r\n\r\n${quotes}`,
];
const perRound = 25_000;

export const floods: StackScenarios = {
  "clients pipeline requests and do not read the responses": async (stack) => {
    const site = await stack.startSite();
    const before = residentMemory(site);
    const readers = await openConnections(site, 50, { reads: false });
    let confirmed = 0;
    for (const [i, socket] of readers.sockets.entries()) {
      socket.on("data", (chunk) => (confirmed += chunk.toString("latin1").split("HTTP/1.1 201").length - 1));
      socket.write(Array.from({ length: 20 }, (_, n) => signupRequest(`pipelined.${i}.${n}`)).join(""));
    }
    await until("1,000 pipelined sign-ups are confirmed", () => confirmed === 1_000);
    const [row] = await stack.query("SELECT count(*)::int AS count FROM earlyaccess");
    assert.equal(row?.count, 1_000);
    readers.destroy();
    // As many requests as Node reads at once, from clients that do not read.
    const others = await openConnections(site, 150, { reads: false });
    for (const [i, socket] of others.sockets.entries()) {
      const request = largeResponses[i % largeResponses.length] as string;
      socket.pause().write(request.repeat(Math.ceil(65_536 / request.length)));
    }
    let peak = 0;
    const timer = setInterval(() => (peak = Math.max(peak, residentMemory(site))), 100).unref();
    const seconds = await others.closed();
    clearInterval(timer);
    others.destroy();
    await assertHealthy(site);
    // Without a limit on pipelined requests, the site takes 900 MB.
    assert(peak < 200, `memory peaked at ${peak} MB`);
    const memory = `memory ${before} MB before, ${peak} MB at most, ${residentMemory(site)} MB after`;
    return `50 × 20 sign-ups stored; 150 connections with unread responses closed after ${seconds.toFixed(1)} s; ${memory}`;
  },
  [`twice ${perRound.toLocaleString("en")} requests over 256 connections`]: async (stack) => {
    const site = await stack.startSite();
    const memory: number[] = [];
    for (const round of [1, 2]) {
      const requests = Array.from({ length: perRound }, (_, n) => {
        if (n % 5 === 0) return signupRequest(`${round}.${n}`);
        const path = n % 5 === 1 ? `/nowhere-${n}` : n % 5 === 2 ? "/healthz" : "/";
        return `GET ${path} HTTP/1.1\r\n${host}Accept-Encoding: br\r\n\r\n`;
      });
      const fifth = perRound / 5;
      assert.deepEqual(await load(site, 256, requests), { 200: 3 * fifth, 201: fifth, 404: fifth });
      await sleep(2_000); // An idle V8 frees memory.
      memory.push(residentMemory(site));
    }
    await assertHealthy(site);
    const [first = 0, last = 0] = memory;
    assert(last <= first + memoryMargin, `memory grew: ${first} MB, ${last} MB`);
    return `every request got its response; memory ${first} MB and ${last} MB after the rounds`;
  },
};
