// Many requests: sent ahead of their answers, and 100,000 on 256 connections. Nothing is lost, and no memory stays.
import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { projectRoot } from "../../server/project-root.ts";
import type { Site } from "../support/site.ts";
import { assertWell, memoryMargin, openCrowd, residentMemory, signupRequest } from "./crowd.ts";
import type { Scenario } from "./scenario.ts";

const host = "Host: localhost\r\n";
const get = `GET / HTTP/1.1\r\n${host}`;

/** With the options of npm start and of the image. */
const asInProduction: [string, ...string[]] = [
  process.execPath,
  "--max-semi-space-size=8",
  join(projectRoot, "dist/server/index.js"),
];
const formHeaders = "Accept: text/html\r\nContent-Type: application/x-www-form-urlencoded\r\n";
const quotes = `name=${'"'.repeat(100)}&company=${'"'.repeat(200)}`;
const unread = [
  `${get}\r\n`,
  `GET /api/earlyaccess HTTP/1.1\r\n${host}${formHeaders}\r\n`,
  `POST /api/earlyaccess HTTP/1.1\r\n${host}${formHeaders}Content-Length: ${quotes.length}\r\n\r\n${quotes}`,
];

const pipelines: Scenario = {
  name: "pipelined floods",
  async run(stand) {
    const site = await stand.startSite({}, asInProduction);
    const before = residentMemory(site);
    const polite = await openCrowd(site, 50);
    let peak = 0;
    const answers = polite.sockets.map(() => 0);
    for (const [i, socket] of polite.sockets.entries()) {
      socket.on(
        "data",
        (chunk) => ((answers[i] as number) += chunk.toString("latin1").split("HTTP/1.1 201").length - 1),
      );
      socket.write(Array.from({ length: 50 }, (_, n) => signupRequest(`pipelined.${i}.${n}`)).join(""));
    }
    while (answers.some((count) => count < 50)) await sleep(50);
    const [row] = await stand.query("SELECT count(*)::int AS count FROM earlyaccess");
    assert.equal(row?.count, 2_500);
    polite.leave();
    // As many as fit into what Node reads at once, from clients that do not read.
    const rude = await openCrowd(site, 150, false);
    for (const [i, socket] of rude.sockets.entries()) {
      const request = unread[i % unread.length] as string;
      socket.pause().write(request.repeat(Math.ceil(65_536 / request.length)));
    }
    const timer = setInterval(() => (peak = Math.max(peak, residentMemory(site))), 100);
    const seconds = await rude.gone();
    clearInterval(timer);
    rude.leave();
    await assertWell(site);
    // Where there is no limit to what is sent ahead, it takes 900.
    assert(peak < 200, `${peak} MB of memory were taken.`);
    const memory = `${before} MB before, ${peak} at most, ${residentMemory(site)} after`;
    return `50 × 50 sign-ups answered and stored; 150 × 64 KB of requests with unread answers gone after ${seconds.toFixed(1)} s; ${memory}`;
  },
};

/** Sends the requests on so many connections, each when the one before it is answered. @returns how often each status came. */
export async function load(site: Site, connections: number, requests: string[]): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  const crowd = await openCrowd(site, connections, false);
  let next = 0;
  await Promise.all(
    crowd.sockets.map(
      (socket) =>
        new Promise<void>((done) => {
          const send = () => (next < requests.length ? socket.write(requests[next++] as string) : done());
          let missing = 0;
          socket.on("data", (chunk: Buffer) => {
            if (missing === 0) {
              const head = chunk.toString("latin1", 0, 4_096);
              const status = head.slice(9, 12);
              statuses.set(status, (statuses.get(status) ?? 0) + 1);
              missing = head.indexOf("\r\n\r\n") + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
            }
            missing -= chunk.length;
            if (missing === 0) send();
          });
          socket.on("close", done);
          send();
        }),
    ),
  );
  crowd.leave();
  return statuses;
}

const manyRequests: Scenario = {
  name: "100,000 requests at 256 connections",
  async run(stand) {
    const site = await stand.startSite();
    const memory: number[] = [];
    for (const round of [1, 2]) {
      const requests = Array.from({ length: 100_000 }, (_, n) => {
        if (n % 5 === 0) return signupRequest(`${round}.${n}`);
        const path = n % 5 === 1 ? `/nowhere-${n}` : n % 5 === 2 ? "/healthz" : "/";
        return `GET ${path} HTTP/1.1\r\n${host}Accept-Encoding: br\r\n\r\n`;
      });
      const statuses = await load(site, 256, requests);
      assert.deepEqual(Object.fromEntries(statuses), { 200: 60_000, 201: 20_000, 404: 20_000 });
      await sleep(5_000); // At rest V8 gives back what it can.
      memory.push(residentMemory(site));
      stand.say(`after ${round}00,000 requests ${memory.at(-1)} MB`);
    }
    await assertWell(site);
    const [first = 0, last = 0] = memory;
    assert(last <= first + memoryMargin, `Memory grew: ${memory.join(", ")} MB.`);
    return `twice 100,000 answers, none ≥ 500; memory after each: ${memory.join(", ")} MB`;
  },
};

export const floods: Scenario[] = [pipelines, manyRequests];
