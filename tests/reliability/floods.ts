// A flood of sign-ups and slow bodies from many networks, and a crowd of slow clients: no other visitor is refused because of them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { mostBodies } from "../../server/middleware/body.ts";
import { memoryOf, type Site, until } from "../support/run.ts";
import { postSignup } from "../support/site.ts";
import { assertRunning, createVisitors, poll, probe, signupBody, type StackScenarios } from "../support/stack.ts";

const networks = 10_000;
const visitorCount = 500;
const slowConnections = 900;
const slowBodies = 1_500;

export const floods: StackScenarios = {
  "a flood of sign-ups and slow bodies from many networks": async (stack) => {
    const limits = { TRUST_PROXY: "1", SIGNUP_LIMIT: "10" };
    const ofImage = { MALLOC_ARENA_MAX: "1", NODE_OPTIONS: "--max-old-space-size=120" };
    const site = await stack.startSite({ ...limits, ...ofImage });
    const visitors = createVisitors(stack);
    const signUpVisitors = async () => {
      for (let i = 0; i < visitorCount; i++) {
        const answer = await visitors.tryToSignUp(site, `visitor.${i}`, `198.18.${i % 256}.${Math.floor(i / 256)}`);
        assert.equal(answer?.status, 201);
      }
    };
    const stopBodies = sendSlowBodies(site);
    await Promise.all([flood(site, 2 * networks), signUpVisitors()]).finally(stopBodies);
    assert.equal(await visitors.assertStored(), visitorCount);
    const memory = Math.round(memoryOf(site.process.pid, "VmHWM"));
    assert(memory < 200, `the site took ${memory} MB`);
    await assertHealthy(site, /"code":"SLOW_BODIES"|"status":503,"ms"/);
    const refused = site.stdout().match(/"code":"SLOW_BODIES"/g)?.length ?? 0;
    assert(refused >= slowBodies - mostBodies, `${refused} slow bodies refused`);
    return `${networks} networks; all ${visitorCount} other sign-ups stored; ${refused} slow bodies refused; at most ${memory} MB`;
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
function sendSlowBodies(site: Site): () => void {
  const sockets = new Set<Socket>();
  const body = "x".repeat(16 * 1024 - 1);
  let isDone = false;
  const open = (i: number) => {
    const socket = connect(Number(new URL(site.url).port), "127.0.0.1");
    sockets.add(socket.resume());
    socket.on("error", () => undefined); // The site closes the connection after 13 s.
    socket.on("close", () => {
      sockets.delete(socket);
      if (!isDone) setTimeout(open, 10_000, i).unref();
    });
    const from = `X-Forwarded-For: 172.${16 + (i >> 8)}.${i & 255}.1\r\n`;
    socket.write(`${postJson}${from}Content-Length: ${body.length + 1}\r\n\r\n${body}`);
  };
  for (let i = 0; i < slowBodies; i++) open(i);
  return () => {
    isDone = true;
    sockets.forEach((socket) => socket.destroy());
  };
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

/** @param expected lines of the log. */
async function assertHealthy(site: Site, expected = /^$/): Promise<void> {
  assert.equal(await probe(site, "/healthz"), 200);
  assertRunning(site);
  const others = site
    .stdout()
    .split("\n")
    .filter((line) => !expected.test(line));
  assert.doesNotMatch(others.join("\n"), /"status":5\d\d|"level":[56]0/);
}
