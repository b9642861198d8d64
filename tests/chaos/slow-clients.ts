// Clients that send or read next to nothing: they are gone within 20 s, and nobody else notices them.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { builtClient } from "../../server/views/renderer.ts";
import { assertAnswered, assertWell, openCrowd, welcomeVisitor, type Crowd } from "./crowd.ts";
import type { Scenario, Stand } from "./scenario.ts";

const host = "Host: localhost\r\n";
const get = `GET / HTTP/1.1\r\n${host}`;
const post = `POST /api/earlyaccess HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;
const size = 300;

/** Each client of the crowd is one of the kinds in turn. @returns the end of the drip. */
function drip({ sockets }: Crowd, kinds: { first: string; slowly: string }[]): () => void {
  const kindOf = (i: number) => kinds[i % kinds.length] as (typeof kinds)[number];
  for (const [i, socket] of sockets.entries()) socket.write(kindOf(i).first);
  const timer = setInterval(() => {
    for (const [i, socket] of sockets.entries()) if (socket.writable) socket.write(kindOf(i).slowly);
  }, 1_000);
  return () => clearInterval(timer);
}

async function sendSlowly(
  stand: Stand,
  kinds: { first: string; slowly: string }[],
  statuses: number[],
): Promise<string> {
  const site = await stand.startSite();
  const sayGoodbye = welcomeVisitor(site);
  const crowd = await openCrowd(site, size);
  const stop = drip(crowd, kinds);
  try {
    const seconds = await crowd.gone();
    const visits = await sayGoodbye();
    assertAnswered(crowd.answers(), statuses, true);
    await assertWell(site);
    return `the last of ${size} gone after ${seconds.toFixed(1)} s; ${visits}`;
  } finally {
    stop();
    crowd.leave();
  }
}

const slowHeaders: Scenario = {
  name: "300 slow headers",
  run: (stand) =>
    sendSlowly(
      stand,
      [
        { first: `${get}X: `, slowly: "x" },
        { first: get, slowly: "X: y\r\n" },
        { first: "G", slowly: "" },
        { first: "", slowly: "" },
      ],
      [408],
    ),
};

const slowBodies: Scenario = {
  name: "300 slow bodies",
  run: (stand) =>
    sendSlowly(
      stand,
      [
        { first: `${post}Content-Length: 200\r\n\r\n{`, slowly: " " },
        { first: `${post}Transfer-Encoding: chunked\r\n\r\n`, slowly: "1\r\n \r\n" },
        { first: `${post}Content-Length: 200\r\n\r\n`, slowly: "" },
        { first: `${get}Content-Length: 200\r\n\r\n`, slowly: " " },
      ],
      [408, 200],
    ),
};

const slowReaders: Scenario = {
  name: "300 slow readers",
  async run(stand) {
    const site = await stand.startSite();
    const sayGoodbye = welcomeVisitor(site);
    const half = size / 2;
    const never = await openCrowd(site, half, false);
    for (const socket of never.sockets) socket.pause();
    // By reading into one byte, of which the callback wants no more until it is resumed.
    const onread = { buffer: Buffer.alloc(1), callback: () => false };
    const byByte = await openCrowd(site, half, false, { onread });
    const crowds = [never, byByte];
    const largest = `GET ${largestAsset()} HTTP/1.1\r\n${host}\r\n`;
    // More than the system's buffers hold; and for every fifth client one page, which they do.
    for (const { sockets } of crowds)
      for (const [i, socket] of sockets.entries()) socket.write(i % 5 === 0 ? `${get}\r\n` : largest.repeat(25));
    const timer = setInterval(() => byByte.sockets.forEach((socket) => socket.resume()), 1_000);
    try {
      await sleep(2_000);
      stand.say(`after 2 s the site has ${never.held() + byByte.held()} of ${size}`);
      const seconds = Math.max(...(await Promise.all(crowds.map((crowd) => crowd.gone()))));
      const visits = await sayGoodbye();
      await assertWell(site);
      return `the last of ${size} gone after ${seconds.toFixed(1)} s; ${visits}`;
    } finally {
      clearInterval(timer);
      for (const crowd of crowds) crowd.leave();
    }
  },
};

function largestAsset(): string {
  const assets = join(builtClient, "assets");
  const sizes = readdirSync(assets).map((name) => ({ name, size: statSync(join(assets, name)).size }));
  return `/assets/${sizes.toSorted((a, b) => b.size - a.size)[0]?.name}`;
}

export const slowClients: Scenario[] = [slowHeaders, slowBodies, slowReaders];
