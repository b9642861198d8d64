// Clients that send much, too much or nonsense: no crash, no fault of the server, and no memory that stays.
import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "../support/site.ts";
import {
  assertAnswered,
  assertWell,
  openCrowd,
  memoryMargin,
  residentMemory,
  signupRequest,
  welcomeVisitor,
} from "./crowd.ts";
import type { Scenario } from "./scenario.ts";

const host = "Host: localhost\r\n";
const get = `GET / HTTP/1.1\r\n${host}`;
const post = `POST /api/earlyaccess HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;
const chunked = "Transfer-Encoding: chunked\r\n\r\n";
async function assertSignupWorks(site: Site, name: string): Promise<void> {
  const crowd = await openCrowd(site, 1);
  crowd.sockets[0]?.write(signupRequest(name));
  await once(crowd.sockets[0] as NodeJS.EventEmitter, "data");
  assertAnswered(crowd.answers(), [201]);
  crowd.leave();
}

const idleConnections: Scenario = {
  name: "2,000 idle connections",
  async run(stand) {
    const site = await stand.startSite();
    const sayGoodbye = welcomeVisitor(site);
    const memory: number[] = [];
    let seconds = 0;
    for (const round of [1, 2]) {
      const crowd = await openCrowd(site, 2_000);
      // Half of them were visitors once, the others never said a word.
      for (const socket of crowd.sockets.slice(1_000)) socket.write(`${get}\r\n`);
      await sleep(2_000);
      assert.equal(crowd.held(), 2_000);
      memory.push(residentMemory(site));
      await assertSignupWorks(site, `idle.${round}`);
      seconds = await crowd.gone();
      assertAnswered(crowd.answers().slice(1_000), [200]);
      crowd.leave();
      memory.push(residentMemory(site));
    }
    const visits = await sayGoodbye();
    await assertWell(site);
    const [, first = 0, , second = 0] = memory;
    assert(second <= first + memoryMargin, `Memory grew: ${memory.join(", ")} MB.`);
    const taken = `memory with them and after, twice: ${memory.join(", ")} MB`;
    return `all 2,000 open at once, the last gone after ${seconds.toFixed(1)} s; ${taken}; ${visits}`;
  },
};

const endlessBodies: Scenario = {
  name: "300 chunked bodies without end",
  async run(stand) {
    const site = await stand.startSite();
    const sayGoodbye = welcomeVisitor(site);
    const heads = [
      post + chunked,
      post.replace("json", "x-www-form-urlencoded") + chunked,
      get + chunked,
      get.replace("GET /", "POST /nowhere") + chunked,
      get.replace("GET", "PUT") + chunked,
    ];
    const crowd = await openCrowd(site, 300);
    for (const [i, socket] of crowd.sockets.entries()) socket.write(heads[i % heads.length] as string);
    const chunk = `4000\r\n${" ".repeat(0x40_00)}\r\n`;
    // 50 MB in a second, and of each no more than it takes.
    const timer = setInterval(() => {
      for (const socket of crowd.sockets) if (socket.writable && !socket.writableNeedDrain) socket.write(chunk);
    }, 100);
    try {
      const seconds = await crowd.gone();
      const visits = await sayGoodbye();
      assertAnswered(crowd.answers(), [200, 404, 405, 413], true);
      await assertWell(site);
      return `the last gone after ${seconds.toFixed(1)} s; ${residentMemory(site)} MB; ${visits}`;
    } finally {
      clearInterval(timer);
      crowd.leave();
    }
  },
};

const broken: { bytes: string; status: number }[] = [
  { bytes: `${get}X: ${"x".repeat(20_000)}\r\n\r\n`, status: 431 },
  { bytes: `${get}${"X: y\r\n".repeat(20_000)}\r\n`, status: 431 },
  { bytes: `GET /${"x".repeat(1_000_000)} HTTP/1.1\r\n${host}\r\n`, status: 431 },
  { bytes: `${post}${chunked}xyz\r\n`, status: 400 },
  { bytes: `${post}${chunked}1\r\n{}\r\n0\r\n\r\n`, status: 400 },
  { bytes: `${post}${chunked}FFFFFFFFFFFFFFFFF\r\n`, status: 400 },
  { bytes: `${post}${chunked}1;${"x".repeat(20_000)}\r\n`, status: 413 },
  { bytes: `${post}Content-Length: 5\r\n${chunked}0\r\n\r\n`, status: 400 },
  { bytes: `${get}X: a\u0000b\r\n\r\n`, status: 400 },
  { bytes: "GET / HTTP/1.1\r\n\r\n", status: 400 },
  { bytes: `CONNECT localhost:5432 HTTP/1.1\r\n${host}\r\n`, status: 405 },
  { bytes: "\u0016\u0003\u0001\u0002\u0000\u0001", status: 400 },
];

const brokenRequests: Scenario = {
  name: "huge headers and invalid chunking",
  async run(stand) {
    const site = await stand.startSite();
    const sayGoodbye = welcomeVisitor(site);
    for (const { bytes, status } of broken) {
      const crowd = await openCrowd(site, 300);
      const answered = crowd.sockets.map((socket) => once(socket, "end").catch(() => undefined));
      for (const socket of crowd.sockets) socket.write(bytes, "latin1");
      await Promise.all(answered);
      // The one that resets a connection on which a megabyte was under way may take the answer along.
      assertAnswered(crowd.answers(), [status], bytes.length > 100_000);
      crowd.leave();
    }
    const visits = await sayGoodbye();
    await assertWell(site);
    return `300 of each of ${broken.length} kinds refused with headers; ${residentMemory(site)} MB; ${visits}`;
  },
};

export const heavyClients: Scenario[] = [idleConnections, endlessBodies, brokenRequests];
