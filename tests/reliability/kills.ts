// Kills and restarts of the site or Postgres under sign-ups: every sign-up that got 201 is stored, and no request is cut off by a shutdown.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { timeLimits } from "../../server/config/time-limits.ts";
import { type Site, until } from "../support/run.ts";
import {
  assertConfirmed,
  assertRunning,
  createVisitors,
  signupBody,
  type StackScenarios,
  type Visitors,
} from "../support/stack.ts";

const siteKills = 4;
const backendKills = 10;
const shutdowns = 4;
/** In milliseconds: the sign-ups of a burst are sent during this time. */
const burstDuration = 250;
/** In milliseconds: by then, the last response of a burst is due. */
const lastResponse = burstDuration + timeLimits.floor;
const burstSize = 200;
/** Fewer addresses than sign-ups: some are sent twice, at the same time. */
const emails = 160;

export const kills: StackScenarios = {
  "the site is killed during bursts of sign-ups": async (stack) => {
    const visitors = createVisitors(stack);
    let cutOff = 0;
    for (let burst = 0; burst < siteKills; burst++) {
      const site = await stack.startSite();
      assertConfirmed(await visitors.signUp(site, 10)); // Warm-up, so that the kill interrupts open transactions.
      // One kill in each quarter of the time: the first cuts off requests, and the last leaves confirmed ones.
      const moment = ((burst + Math.random()) / siteKills) * lastResponse;
      const answers = await killDuringBurst(visitors, site, burst, moment, () => site.process.kill("SIGKILL"));
      assertConfirmed(answers.filter((answer) => answer !== undefined));
      cutOff += answers.filter((answer) => answer === undefined).length;
      await visitors.assertStored();
    }
    const stored = await visitors.assertStored();
    assert(stored > siteKills * 10 && cutOff > 0, "no kill came during a burst");
    return `${siteKills} kills; ${stored} confirmed sign-ups, each stored once; ${cutOff} requests cut off`;
  },
  "a backend of Postgres is killed while the site stands still and the disk is slow": async (stack) => {
    // Without these settings, no site could keep a confirmed sign-up through a crash of Postgres.
    for (const setting of ["fsync", "full_page_writes", "synchronous_commit"]) {
      const [row] = await stack.query("SELECT current_setting($1) AS value", [setting]);
      assert.equal(row?.value, "on", setting);
    }
    await stack.query("ALTER SYSTEM SET commit_siblings = 0"); // Every commit waits for the delay.
    await stack.query("ALTER SYSTEM SET commit_delay = 30000");
    await stack.query("SELECT pg_reload_conf()");
    const visitors = createVisitors(stack);
    const site = await stack.startSite();
    assertConfirmed(await visitors.signUp(site, 10));
    for (let crash = 0; crash < backendKills; crash++) {
      const moment = Math.random() * burstDuration;
      const answers = await killDuringBurst(visitors, site, `crash.${crash}`, moment, async () => {
        const backends = "SELECT pid FROM pg_stat_activity WHERE application_name = 'perennial-web'";
        const backend = await until("the site is connected", async () => (await stack.query(backends))[0]);
        site.process.kill("SIGSTOP");
        await sleep(Math.random() * 20); // Postgres sends answers that the site has not read yet.
        process.kill(backend?.pid as number, "SIGKILL"); // Postgres ends all its connections, and recovers.
        await until("Postgres works again", () => stack.query("SELECT").catch(() => undefined));
        site.process.kill("SIGCONT");
      });
      for (const answer of answers) assert(answer, "a sign-up got no response");
      await until("sign-ups are stored again", async () => (await visitors.signUp(site, 1))[0]?.status === 201);
      await visitors.assertStored();
    }
    assertRunning(site);
    return `${backendKills} crashes; ${await visitors.assertStored()} confirmed sign-ups, each stored once`;
  },
  "the site shuts down under load (SIGTERM)": async (stack) => {
    const seen = { responses: 0, confirmed: [] as string[] };
    for (let round = 0; round < shutdowns; round++) {
      const site = await stack.startSite();
      const clients = Promise.all(Array.from({ length: 32 }, (_, i) => sendUntilRefused(site, `${round}.${i}`, seen)));
      clients.catch(() => undefined); // Thrown below.
      const wanted = seen.responses + 320;
      await until("the load has started", () => seen.responses >= wanted);
      await sleep(round * 16);
      assert.equal(await site.stop(), 0);
      await clients;
      assert.equal(site.stderr(), "");
    }
    const rows = await stack.query("SELECT email FROM earlyaccess");
    const stored = new Set(rows.map(({ email }) => email));
    for (const email of seen.confirmed) assert(stored.has(email), "a confirmed sign-up is not stored");
    return `${shutdowns} stops; ${seen.responses} responses, no request cut off; ${seen.confirmed.length} confirmed sign-ups stored`;
  },
};

async function killDuringBurst(
  visitors: Visitors,
  site: Site,
  burst: number | string,
  moment: number,
  kill: () => unknown,
) {
  const coming = Array.from({ length: burstSize }, async (_, i) => {
    await sleep((i / burstSize) * burstDuration);
    return visitors.tryToSignUp(site, `${burst}.${Math.floor((i / burstSize) * emails)}`);
  });
  await sleep(moment);
  await kill();
  return Promise.all(coming);
}

/** Opens pages and signs up, one request after the other on a kept connection, until the site refuses connections. */
async function sendUntilRefused(site: Site, name: string, seen: { responses: number; confirmed: string[] }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { port } = new URL(site.url);
  for (let i = 0; ; i++) {
    const body = i % 4 === 0 ? signupBody(`${name}.${i}`) : undefined;
    const target = body ? { method: "POST", path: "/api/earlyaccess" } : { path: "/" };
    const headers = { "Content-Type": "application/json" };
    const sent = request({ host: "127.0.0.1", port, agent, headers, ...target }).end(body && JSON.stringify(body));
    try {
      const [response] = await once(sent, "response");
      await text(response);
      seen.responses++;
      if (body && response.statusCode === 201) seen.confirmed.push(body.email);
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ECONNREFUSED", "a request was cut off");
      return;
    }
  }
}
