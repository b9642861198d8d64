// Faults of the machine: its clock jumps, and the site runs out of file descriptors.
import assert from "node:assert/strict";
import { once } from "node:events";
import { rename, writeFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { builtServer, type Site } from "../support/site.ts";
import type { StackScenarios } from "../support/stack.ts";
import { until } from "../support/until.ts";
import { assertConfirmed, assertRunning, createVisitors, visit, type Visitors } from "../support/visitors.ts";

const dayMs = 86_400_000;
const limit = 3;
const windowSeconds = 2;

export const machine: StackScenarios = {
  "the clock jumps a day ahead, two days back, and a day ahead": async (stack) => {
    const file = join(stack.folder, "clock-offset");
    const shiftClock = async (offset: number) => {
      await writeFile(`${file}.new`, `${offset}`);
      await rename(`${file}.new`, file); // Atomic.
    };
    await shiftClock(0);
    const site = await stack.startSite({
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shiftedDate(file))}`,
      TRUST_PROXY: "1",
      SIGNUP_LIMIT: `${limit}`,
      SIGNUP_WINDOW_SECONDS: `${windowSeconds}`,
    });
    const visitors = createVisitors(stack);
    const waited = [];
    await useUpLimit(visitors, site, "203.0.113.0");
    for (const [i, offset] of [dayMs, -dayMs, 0].entries()) {
      await duringRequest(site, () => shiftClock(offset));
      await useUpLimit(visitors, site, `203.0.113.${i + 1}`);
      waited.push(await waitForWindow(visitors, site, `203.0.113.${i}`));
    }
    waited.push(await waitForWindow(visitors, site, "203.0.113.3"));
    const durations = [...site.stdout().matchAll(/"ms":(-?\d+)/g)].map(([, ms]) => Number(ms));
    assert(durations.length > 0);
    for (const ms of durations) assert(ms >= 0 && ms < 60_000, `the log says that a request took ${ms} ms`);
    assertRunning(site);
    const longest = Math.max(...waited).toFixed(1);
    return `a client over its limit waited ${longest} s at most, for a window of ${windowSeconds} s`;
  },
  "the site runs out of file descriptors": async (stack) => {
    const command = `ulimit -n 64 && exec "${process.execPath}" "${builtServer}"`;
    const site = await stack.startSite({}, { command: ["sh", "-c", command] });
    const visitors = createVisitors(stack);
    const { port } = new URL(site.url);
    const sockets = Array.from({ length: 200 }, () => connect(Number(port), "127.0.0.1"));
    for (const socket of sockets) socket.on("error", () => undefined);
    const countEnded = () => sockets.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length;
    await until("the site refuses a connection", () => countEnded() > 0);
    const ended = countEnded();
    for (const socket of sockets) socket.destroy();
    await sleep(200); // Until the site knows.
    assert.equal((await visit(site)).status, 200);
    assertConfirmed(await visitors.signUp(site, 10));
    assert.equal((await visit(site, "/readyz")).status, 200);
    assertRunning(site);
    return `at least ${ended} of 200 connections refused; ${await visitors.assertStored()} sign-ups stored afterwards`;
  },
};

/** Code that shifts Date by the offset in the file. Timers and performance.now() stay, as the monotonic clock never jumps. */
const shiftedDate = (file: string) => `
import { readFileSync } from "node:fs";
const TrueDate = Date;
const now = () => TrueDate.now() + Number(readFileSync(${JSON.stringify(file)}, "utf8"));
globalThis.Date = class Date extends TrueDate {
  constructor(...args) {
    if (args.length > 0) super(...args);
    else super(now());
  }
  static now = now;
};`;

/** Acts while a request is open, whose duration the log must not get wrong. */
async function duringRequest(site: Site, act: () => Promise<void>): Promise<void> {
  const headers = { "Content-Type": "application/json", "Content-Length": "2", "X-Forwarded-For": "198.51.100.1" };
  const sent = request(`${site.url}/api/earlyaccess`, { method: "POST", headers });
  sent.flushHeaders();
  await sleep(100);
  await act();
  sent.end("{}");
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  assert.equal(response.statusCode, 422);
}

let attempts = 0;

async function signUpFrom(visitors: Visitors, site: Site, client: string): Promise<number> {
  const answer = await visitors.tryToSignUp(site, `clock.${attempts++}`, client);
  assert(answer, "a sign-up got no response");
  if (answer.status !== 429) assertConfirmed([answer]);
  assert(Number(answer.retryAfter) <= windowSeconds, `Retry-After: ${answer.retryAfter}`);
  return answer.status;
}

async function useUpLimit(visitors: Visitors, site: Site, client: string): Promise<void> {
  const statuses: number[] = [];
  for (let i = 0; i <= limit; i++) statuses.push(await signUpFrom(visitors, site, client));
  assert.deepEqual(statuses, [...Array<number>(limit).fill(201), 429], "statuses for a new client");
}

/** Retries until the client is admitted, which must not prolong its window. Returns the seconds that it took. */
async function waitForWindow(visitors: Visitors, site: Site, client: string): Promise<number> {
  const began = performance.now();
  const isAdmitted = async () => (await signUpFrom(visitors, site, client)) === 201;
  await until("the limit ends with its window", isAdmitted, windowSeconds + 1, 100);
  return (performance.now() - began) / 1000;
}
