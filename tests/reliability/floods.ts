// A flood of sign-ups and slow bodies through Caddy, and a crowd of slow clients: no other visitor is refused because of them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { startCaddy } from "../support/caddy.ts";
import { memoryOf, type Site, until } from "../support/run.ts";
import { postSignup } from "../support/site.ts";
import { assertRunning, createVisitors, poll, probe, signupBody, type StackScenarios } from "../support/stack.ts";

const networks = 10_000;
const visitorCount = 500;
const slowConnections = 900;
const slowBodies = 1_500;

export const floods: StackScenarios = {
  "a flood of sign-ups and slow bodies from many networks": async (stack) => {
    const limits = { TRUST_PROXY: "2", SIGNUP_LIMIT: "10" };
    const ofImage = { MALLOC_ARENA_MAX: "1", NODE_OPTIONS: "--max-old-space-size=120" };
    const site = await stack.startSite({ ...limits, ...ofImage });
    const caddy = await startCaddy(site, stack.folder);
    const visitors = createVisitors(stack);
    const signUpVisitors = async () => {
      for (let i = 0; i < visitorCount; i++) {
        const answer = await visitors.tryToSignUp(caddy, `visitor.${i}`, `198.18.${i % 256}.${Math.floor(i / 256)}`);
        assert.equal(answer?.status, 201);
      }
    };
    const stopBodies = await sendSlowBodies(caddy);
    await Promise.all([flood(caddy, 2 * networks), signUpVisitors()]).finally(stopBodies);
    const ofCaddy = Math.round(memoryOf(caddy.process.pid, "VmHWM"));
    await caddy.stop();
    assert.equal(await visitors.assertStored(), visitorCount);
    const memory = Math.round(memoryOf(site.process.pid, "VmHWM"));
    assert(memory < 200, `the site took ${memory} MB`);
    assert(ofCaddy < 384, `Caddy took ${ofCaddy} MB`);
    await assertHealthy(site);
    assert.doesNotMatch(site.stdout(), /"status":(?:408|"aborted")/, "a slow body reached the site");
    return `${networks} networks; all ${visitorCount} other sign-ups stored; at most ${memory} MB, Caddy with ${slowBodies} slow bodies ${ofCaddy} MB`;
  },
  "clients send too slowly, or nothing": async (stack) => {
    const site = await stack.startSite();
    const done = new AbortController();
    const visiting = poll(site, "/", 200, done.signal);
    visiting.catch(() => undefined); // Thrown below.
    const sockets = await Promise.all(Array.from({ length: slowConnections }, (_, i) => openSlowly(site, i)));
    const began = performance.now();
    const sending = setInterval(() => {
      for (const { socket, eachSecond } of sockets) if (socket.writable) socket.write(eachSecond);
    }, 1_000);
    const areClosed = () => sockets.every(({ socket }) => socket.destroyed);
    await until("the site has closed all connections", areClosed, 20).finally(() => clearInterval(sending));
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    for (const { status, received } of sockets) {
      // A connection may be reset before the client has read the response.
      assert(received() === "" || received().startsWith(`HTTP/1.1 ${status} `), received().slice(0, 200));
    }
    done.abort();
    const visits = await visiting;
    await assertHealthy(site);
    return `all ${slowConnections} connections closed after ${seconds} s; ${visits} other visits got 200`;
  },
};

/** Sends sign-ups from as many networks, one after the other on each of 64 connections. */
async function flood(site: Site, count: number): Promise<void> {
  let next = 0;
  const send = async () => {
    while (next < count) {
      const i = next++;
      const network = i % networks;
      const from = { "X-Forwarded-For": `10.${network >> 8}.${network & 255}.1` };
      const response = await postSignup(site, signupBody(`flood.${i}`), from);
      assert.equal(response.status, 201);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 64 }, send));
}

/** Keeps connections open that each send all of a body but its last byte, from as many networks. Returns a function that ends them. */
async function sendSlowBodies(caddy: Site): Promise<() => void> {
  const body = "x".repeat(16 * 1024 - 1);
  const open = async (_: unknown, i: number) => {
    const socket = connect(Number(new URL(caddy.url).port), "localhost");
    await once(socket, "connect");
    socket.on("error", () => undefined); // If Caddy ends, the sign-ups of the flood fail.
    const from = `X-Forwarded-For: 172.${16 + (i >> 8)}.${i & 255}.1\r\n`;
    socket.write(`${postJson}${from}Content-Length: ${body.length + 1}\r\n\r\n${body}`);
    return socket;
  };
  const sockets = await Promise.all(Array.from({ length: slowBodies }, open));
  return () => sockets.forEach((socket) => socket.destroy());
}

const getPage = "GET / HTTP/1.1\r\nHost: localhost\r\n";
const postJson = "POST /api/earlyaccess HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

/** The bytes that a client sends at once and each second, and the status of the response, if it gets one. */
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

async function openSlowly(site: Site, i: number) {
  const [first, eachSecond, status] = slowSenders[i % slowSenders.length] as (typeof slowSenders)[number];
  const socket = connect(Number(new URL(site.url).port), "127.0.0.1");
  await once(socket, "connect");
  let start = "";
  socket.on("error", () => undefined); // The site is expected to close the connection.
  socket.on("data", (chunk) => (start ||= String(chunk)));
  socket.write(first);
  return { socket, eachSecond, status, received: () => start };
}

async function assertHealthy(site: Site): Promise<void> {
  assert.equal(await probe(site, "/healthz"), 200);
  assertRunning(site);
  assert.doesNotMatch(site.stdout(), /"status":5\d\d|"level":[56]0/);
}
