// Many raw TCP connections to a site, and what Linux reports about them and about the site's memory.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket, type TcpNetConnectOpts } from "node:net";
import { memoryOf } from "../support/process-usage.ts";
import type { Site } from "../support/site.ts";
import { signupBody } from "../support/stack.ts";
import { until } from "../support/until.ts";
import { assertRunning, visit } from "../support/visitors.ts";

/** Linux queues 511 connections that the site has not accepted; further ones wait for a second. */
const batch = 250;

export const host = "Host: localhost\r\n";
export const getPage = `GET / HTTP/1.1\r\n${host}`;
export const postJson = `POST /api/earlyaccess HTTP/1.1\r\n${host}Content-Type: application/json\r\n`;

/** The sign-up of a new visitor. @param from the client's address for X-Forwarded-For. */
export function signupRequest(name: number | string, from?: string): string {
  const body = JSON.stringify(signupBody(name));
  const forwarded = from ? `X-Forwarded-For: ${from}\r\n` : "";
  return `${postJson}${forwarded}Content-Length: ${body.length}\r\n\r\n${body}`;
}

export interface Connections {
  sockets: Socket[];
  /** How many of them the site's process still holds. */
  open: () => number;
  /** The beginning of what each connection received. */
  received: string[];
  /** Waits until the site has closed all of them, and returns the seconds since they were opened. @throws after 20 s. */
  closed: () => Promise<number>;
  destroy: () => void;
}

/** @param reads false if the caller reads, or nobody does. */
export async function openConnections(
  site: Site,
  count: number,
  { reads = true, ...options }: { reads?: boolean; onread?: object } = {},
): Promise<Connections> {
  const began = performance.now();
  const sockets: Socket[] = [];
  const received = Array<string>(count).fill("");
  const { port } = new URL(site.url);
  const target = { port: Number(port), host: "127.0.0.1", allowHalfOpen: true, ...options } as TcpNetConnectOpts;
  while (sockets.length < count) {
    const next = Array.from({ length: Math.min(batch, count - sockets.length) }, () => connect(target));
    await Promise.all(next.map((socket) => once(socket, "connect")));
    sockets.push(...next);
  }
  for (const [i, socket] of sockets.entries()) {
    socket.on("error", () => undefined); // The site is expected to close connections.
    if (reads) socket.on("data", (chunk) => (received[i] as string).length < 8_000 && (received[i] += String(chunk)));
  }
  const ports = new Set(sockets.map(({ localPort }) => localPort));
  const open = () => clientPorts(site).filter((one) => ports.has(one)).length;
  await until("the site has accepted all connections", () => open() === count);
  return {
    sockets,
    received,
    open,
    closed: async () => {
      const seconds = () => (performance.now() - began) / 1000;
      await until(`the site has closed its ${count} connections`, () => open() === 0, 20 - seconds(), 200);
      return seconds();
    },
    destroy: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The clients' ports of the connections that the site's process holds. */
function clientPorts(site: Site): number[] {
  const own = Number(new URL(site.url).port).toString(16).toUpperCase().padStart(4, "0");
  const lines = readFileSync(`/proc/${site.process.pid}/net/tcp`, "utf8").split("\n").slice(1, -1);
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state, , , , , , inode]) => local?.endsWith(`:${own}`) && state !== "0A" && inode !== "0")
    .map(([, , remote]) => Number.parseInt(remote?.split(":")[1] ?? "", 16));
}

/** Sends a request and reads one response with a Content-Length. Resolves with undefined if the connection ends first. */
export function exchange(socket: Socket, request: string | Buffer): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = "";
    const finish = (result?: string) => {
      socket.off("data", read).off("close", close);
      resolve(result);
    };
    const close = () => finish();
    const read = (chunk: Buffer) => {
      answer += chunk.toString("latin1");
      const head = answer.indexOf("\r\n\r\n") + 4;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1]);
      if (head > 3 && answer.length >= head + length) finish(answer);
    };
    socket.on("data", read).on("close", close);
    if (socket.destroyed) close();
    else socket.write(request);
  });
}

/** Sends the requests over `count` connections, each after the response to the one before. Returns the number of responses per status. */
export async function load(site: Site, count: number, requests: string[]): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  const connections = await openConnections(site, count, { reads: false });
  let next = 0;
  await Promise.all(
    connections.sockets.map(async (socket) => {
      while (next < requests.length) {
        const status = (await exchange(socket, requests[next++] as string))?.slice(9, 12) ?? "closed";
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }),
  );
  connections.destroy();
  return statuses;
}

/** In MB (10⁶ bytes). */
export const residentMemory = (site: Site) => Math.round(memoryOf(site.process.pid, "VmRSS"));

/** In MB: V8 keeps this much of the memory that it freed; a leak would take more with each flood. */
export const memoryMargin = 40;

/** Asserts what holds at the end of every scenario. */
export async function assertHealthy(site: Site): Promise<void> {
  assert.equal((await visit(site, "/healthz")).status, 200);
  assertRunning(site);
  assert.doesNotMatch(site.stdout(), /"status":5\d\d|"level":[56]0/);
}

/** What Node sends by itself for invalid HTTP. */
const ownResponse = /^HTTP\/1\.1 [^\r]+\r\nConnection: close\r\n/;

/** Asserts that each response has one of the statuses, and the site's responses the security headers. @param silent whether to be closed without a response is right, too. */
export function assertResponses(received: string[], statuses: number[], silent = false): void {
  for (const response of received) {
    if (silent && response === "") continue;
    const status = Number(/^HTTP\/1\.1 (\d+) /.exec(response)?.[1]);
    assert(statuses.includes(status), `Received "${response.slice(0, 200)}".`);
    if (!ownResponse.test(response)) assert.match(response, /^Content-Security-Policy: default-src 'none'/m);
  }
}
