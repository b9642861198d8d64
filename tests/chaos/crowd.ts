// A crowd of connections to a site, an honest visitor beside it, and what the system says of both.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { connect, type Socket, type TcpNetConnectOpts } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { memoryOf } from "../support/memory.ts";
import type { Site } from "../support/site.ts";
import { visitor } from "./stand.ts";

/** Nobody who is slow may stay longer, in seconds. */
const patience = 20;
/** The system queues 511 connections that are not yet accepted; who comes on top waits for a second. */
const atOnce = 250;

export interface Crowd {
  sockets: Socket[];
  /** How many of the connections the site's process still has. */
  held(): number;
  /** The beginning of what each connection was answered. */
  answers(): string[];
  /** Waits until the site has none of the connections. @returns the seconds since the crowd came; throws after 20. */
  gone(): Promise<number>;
  leave(): void;
}

const portOf = (site: Site) => Number(new URL(site.url).port);

/** @param reads false where the clients read for themselves, or not at all. */
export async function openCrowd(site: Site, size: number, reads = true, options: object = {}): Promise<Crowd> {
  const began = performance.now();
  const sockets: Socket[] = [];
  const answers: string[] = Array<string>(size).fill("");
  while (sockets.length < size) {
    const next = Array.from({ length: Math.min(atOnce, size - sockets.length) }, () =>
      connect({ port: portOf(site), host: "127.0.0.1", allowHalfOpen: true, ...options } as TcpNetConnectOpts),
    );
    await Promise.all(next.map((socket) => once(socket, "connect")));
    sockets.push(...next);
  }
  const ports = new Set(sockets.map(({ localPort }) => localPort));
  for (const [i, socket] of sockets.entries()) {
    socket.on("error", () => undefined); // Closed by the site, which is the point.
    if (reads) socket.on("data", (chunk) => (answers[i] as string).length < 8_000 && (answers[i] += chunk.toString()));
  }
  const held = () => connectionsOf(site).filter((port) => ports.has(port)).length;
  // The system has accepted them all; the site comes to it when it has time.
  while (held() < size) await sleep(10);
  return {
    sockets,
    held,
    answers: () => answers,
    gone: async () => {
      for (;;) {
        const seconds = (performance.now() - began) / 1000;
        const left = held();
        if (left === 0) return seconds;
        assert(seconds <= patience, `After ${patience} s the site still has ${left} of ${size} connections.`);
        await sleep(100);
      }
    },
    leave: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The clients' ports of the connections that the site's process has, as Linux lists them. */
function connectionsOf(site: Site): number[] {
  const own = portOf(site).toString(16).toUpperCase().padStart(4, "0");
  const lines = readFileSync(`/proc/${site.process.pid}/net/tcp`, "utf8").split("\n").slice(1, -1);
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state, , , , , , inode]) => local?.endsWith(`:${own}`) && state !== "0A" && inode !== "0")
    .map(([, , remote]) => Number.parseInt(remote?.split(":")[1] ?? "", 16));
}

/** Asks for the page ten times in a second, each time as somebody new. @returns an end, which says how that went. */
export function welcomeVisitor(site: Site): () => Promise<string> {
  const leaving = new AbortController();
  let visits = 0;
  let slowest = 0;
  const visiting = (async () => {
    while (!leaving.signal.aborted) {
      const began = performance.now();
      const { status, body } = await ask(site, "/");
      assert.equal(status, 200);
      assert(body.endsWith("</html>"), "The visitor got half a page.");
      visits++;
      const ms = performance.now() - began;
      slowest = Math.max(slowest, ms);
      await sleep(Math.max(0, 100 - ms));
    }
  })();
  visiting.catch(() => undefined); // Thrown below.
  return async () => {
    leaving.abort();
    await visiting;
    return `${visits} honest visits, the slowest ${Math.round(slowest)} ms`;
  };
}

/** GET on a connection of its own; throws where it takes longer than anybody waits. */
export async function ask(site: Site, path: string): Promise<{ status: number | undefined; body: string }> {
  const sent = get({
    host: "127.0.0.1",
    port: portOf(site),
    path,
    agent: false,
    signal: AbortSignal.timeout(patience * 1000),
  });
  const [response] = await once(sent, "response");
  return { status: response.statusCode, body: (await text(response)).trim() };
}

/** In MB (10⁶ bytes). */
export const residentMemory = (site: Site) => Math.round(memoryOf(site.process.pid, "VmRSS"));

/** A new visitor's sign-up, as it goes over the wire. */
export function signupRequest(name: number | string): string {
  const body = JSON.stringify(visitor(name));
  const head = "POST /api/earlyaccess HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** By how much memory may differ between two times at rest, in MB: V8 keeps a few pages for later. */
export const memoryMargin = 25;

/** What holds at the end of every scenario. */
export async function assertWell(site: Site): Promise<void> {
  assert.equal((await ask(site, "/healthz")).status, 200);
  assert.equal(site.process.exitCode ?? site.process.signalCode, null);
  assert.equal(site.stderr(), "");
  assert.doesNotMatch(site.stdout(), /"status":5\d\d|"level":[56]0/);
}

/** Every answer has one of the statuses and the security headers. @param silence whether to be closed without a word is right, too. */
export function assertAnswered(answers: string[], statuses: number[], silence = false): void {
  for (const answer of answers) {
    if (silence && answer === "") continue;
    const status = Number(/^HTTP\/1\.1 (\d+) /.exec(answer)?.[1]);
    assert(statuses.includes(status), `Answered with "${answer.slice(0, 200)}".`);
    assert.match(answer, /^Content-Security-Policy: default-src 'none'/m);
  }
}
