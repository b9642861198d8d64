// Stops under load: no request of a client that keeps its connections is cut off.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "../support/site.ts";
import { signupRequest } from "./crowd.ts";
import type { Scenario } from "./scenario.ts";

const stopCount = 20;
const connections = 32;
const page = "GET / HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\n\r\n";

export const stops: Scenario[] = [
  {
    name: `${stopCount} stops (SIGTERM) under load`,
    run: async (stand) => {
      const seen = { answered: 0, reset: 0 };
      const joined: string[] = [];
      for (let stop = 0; stop < stopCount; stop++) {
        const site = await stand.startSite();
        const clients = Array.from({ length: connections }, (_, i) =>
          converse(site, `stop.${stop}.${i}`, seen, joined),
        );
        while (seen.answered < (stop + 1) * 10 * connections) await sleep(5);
        await sleep(stop * 3);
        assert.equal(await site.stop(), 0);
        await Promise.all(clients);
        assert.equal(site.stderr(), "");
      }
      const rows = await stand.query("SELECT email FROM earlyaccess");
      const kept = new Set(rows.map(({ email }) => email));
      for (const email of joined) assert(kept.has(email), "a sign-up that was told 201 is not there");
      assert.equal(seen.reset, 0, `${seen.reset} requests were cut off`);
      return `${seen.answered} requests answered, none reset; ${joined.length} told 201 and kept`;
    },
  },
];

/** Visits and signs up in turn, each time when the answer is there, until the site refuses connections. */
async function converse(site: Site, name: string, seen: { answered: number; reset: number }, joined: string[]) {
  let socket: Socket | undefined;
  for (let i = 0; ; i++) {
    socket ??= await open(site);
    if (!socket) return;
    const isSignup = i % 4 === 0;
    socket.write(isSignup ? signupRequest(`${name}.${i}`) : page);
    const answer = await receive(socket);
    if (answer === undefined) {
      seen.reset++;
      return;
    }
    seen.answered++;
    if (isSignup && answer.startsWith("HTTP/1.1 201")) joined.push(`ada.${name}.${i}@example.com`);
    if (/\r\nconnection: close/i.test(answer)) socket = void socket.destroy();
  }
}

/** Undefined where the site listens no longer. */
async function open(site: Site): Promise<Socket | undefined> {
  const socket = connect(Number(new URL(site.url).port), "127.0.0.1");
  try {
    await once(socket, "connect");
  } catch {
    return undefined;
  }
  return socket.on("error", () => undefined);
}

/** A whole response; undefined where the connection ends before it. */
async function receive(socket: Socket): Promise<string | undefined> {
  let answer = "";
  const ended = new AbortController();
  const end = () => ended.abort();
  socket.once("close", end);
  try {
    for (;;) {
      const [chunk] = (await once(socket, "data", { signal: ended.signal })) as [Buffer];
      answer += chunk.toString("latin1");
      const head = answer.indexOf("\r\n\r\n") + 4;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1]);
      if (head > 3 && answer.length >= head + length) return answer;
    }
  } catch {
    return undefined;
  } finally {
    socket.off("close", end);
  }
}
