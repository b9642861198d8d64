// Faults of the machine that the site runs on: its clock jumps, and it has no file descriptors left.
import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { projectRoot } from "../../server/project-root.ts";
import type { Site } from "../support/site.ts";
import { createClock } from "./clock.ts";
import { assertAlive, probe } from "./endure.ts";
import type { Scenario } from "./scenario.ts";
import { assertJoined, createVisitors, type Visitors } from "./visitors.ts";

const dayMs = 86_400_000;
const limit = 3;
const windowSeconds = 2;

export const machine: Scenario[] = [
  {
    name: "the clock jumps a day ahead, two days back, and is put right",
    run: async (stand) => {
      const clock = await createClock();
      try {
        const limits = { TRUST_PROXY: "1", SIGNUP_LIMIT: `${limit}`, SIGNUP_WINDOW_SECONDS: `${windowSeconds}` };
        const site = await stand.startSite({ ...clock.env, ...limits });
        const visitors = createVisitors(stand);
        const waited = [];
        await useUpLimit(visitors, site, "203.0.113.0");
        for (const [i, offset] of [dayMs, -dayMs, 0].entries()) {
          await duringRequest(site, () => clock.shift(offset));
          await useUpLimit(visitors, site, `203.0.113.${i + 1}`);
          waited.push(await waitForPlace(visitors, site, `203.0.113.${i}`));
        }
        waited.push(await waitForPlace(visitors, site, "203.0.113.3"));
        assertSaneDurations(site);
        assertAlive(site);
        const longest = Math.max(...waited).toFixed(1);
        return `limited for ${longest} s after a jump, of ${windowSeconds}; ${await visitors.assertKept()} kept`;
      } finally {
        await clock.remove();
      }
    },
  },
  {
    name: "the site has no file descriptors left (EMFILE)",
    run: async (stand) => {
      const command = `ulimit -n 64 && exec "${process.execPath}" "${projectRoot}/dist/server/index.js"`;
      const site = await stand.startSite({}, ["sh", "-c", command]);
      const visitors = createVisitors(stand);
      const { port } = new URL(site.url);
      const sockets = Array.from({ length: 200 }, () => connect(Number(port), "127.0.0.1"));
      for (const socket of sockets) socket.on("error", () => undefined);
      await sleep(2_000);
      const ended = sockets.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length;
      assert(ended > 0, "every connection was accepted: there was no lack");
      for (const socket of sockets) socket.destroy();
      await sleep(200); // Until the site knows.
      assert.equal((await probe(site, "/")).status, 200);
      assertJoined(await visitors.signUp(site, 10));
      assert.equal((await probe(site, "/readyz")).status, 200);
      assertAlive(site);
      return `${ended} of 200 connections refused; ${await visitors.assertKept()} kept afterwards`;
    },
  },
];

/** Does it while a request is under way, whose duration the log must not get wrong. */
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
  assert(answer, "the site gave no answer");
  if (answer.status !== 429) assertJoined([answer]);
  assert(Number(answer.retryAfter) <= windowSeconds, `Retry-After: ${answer.retryAfter}`);
  return answer.status;
}

async function useUpLimit(visitors: Visitors, site: Site, client: string): Promise<void> {
  const answers: number[] = [];
  for (let i = 0; i <= limit; i++) answers.push(await signUpFrom(visitors, site, client));
  assert.deepEqual(answers, [...Array<number>(limit).fill(201), 429], "what a new client is answered");
}

/** Insists, which must not make it longer. Resolves with how many seconds it took. */
async function waitForPlace(visitors: Visitors, site: Site, client: string): Promise<number> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  while ((await signUpFrom(visitors, site, client)) === 429) {
    assert(seconds() < windowSeconds + 1, "a client is limited for longer than its window");
    await sleep(100);
  }
  return seconds();
}

function assertSaneDurations(site: Site): void {
  const durations = [...site.stdout().matchAll(/"ms":(-?\d+)/g)].map(([, ms]) => Number(ms));
  assert(durations.length > 0);
  for (const ms of durations) assert(ms >= 0 && ms < 60_000, `a request that took ${ms} ms, says the log`);
}
