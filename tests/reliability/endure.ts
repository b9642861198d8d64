// Runs a fault of the database under load: pages respond, sign-ups are stored or refused in time, everything recovers.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "../support/site.ts";
import type { Stack } from "../support/stack.ts";
import { until } from "../support/until.ts";
import {
  assertAnswered,
  assertConfirmed,
  assertRunning,
  countStatus,
  createVisitors,
  visit,
  type Visitors,
} from "../support/visitors.ts";

export interface Fault {
  /** Resolves when the fault is there, so that the site can notice it. */
  begin(visitors: Visitors, site: Site): unknown;
  end(): unknown;
}

/** In milliseconds, for a page or a probe. */
const pageLimit = 2_000;

/** Begins the fault, sends visitors and probes, ends it, and waits for the recovery. Returns what was measured. */
export async function endure(stack: Stack, fault: Fault, env: Record<string, string> = {}): Promise<string> {
  const site = await stack.startSite(env);
  const visitors = createVisitors(stack);
  assertConfirmed(await visitors.signUp(site, 20));
  assert.equal(await probe(site, "/readyz"), 200);
  await fault.begin(visitors, site);
  let seen;
  try {
    // Before any sign-up: a load balancer notices the fault first.
    await until("/readyz reports the fault", async () => (await probe(site, "/readyz")) === 503, 15);
    seen = await loadDuringFault(visitors, site);
  } finally {
    await fault.end(); // Nothing could stop a frozen Postgres.
  }
  const began = performance.now();
  await until("sign-ups work again", () => signUpAgain(visitors, site), 15);
  const recovered = ((performance.now() - began) / 1000).toFixed(1);
  await sleep(300); // The site caches the result of a probe for 250 ms.
  assert.equal(await probe(site, "/readyz"), 200, "/readyz after a sign-up was stored again");
  assertConfirmed(await visitors.signUp(site, 50));
  assertRunning(site);
  return `${seen}; recovered in ${recovered} s; ${await visitors.assertStored()} confirmed sign-ups stored`;
}

/** Sends 50 sign-ups at once and 50 in turn, which are more than there are connections to Postgres, and polls pages and probes. */
async function loadDuringFault(visitors: Visitors, site: Site): Promise<string> {
  const done = new AbortController();
  const before = countWarnings(site);
  const signups = Promise.all([visitors.signUp(site, 50), visitors.signUp(site, 50, 30)]);
  const [pages, , , answers] = await Promise.all([
    poll(site, "/", 200, done.signal),
    poll(site, "/healthz", 200, done.signal),
    poll(site, "/readyz", 503, done.signal),
    signups.then((both) => both.flat()).finally(() => done.abort()),
  ]);
  assertAnswered(answers);
  const refused = countStatus(answers, 503);
  // One line for each, and a few for connections and the change of /readyz.
  assert(countWarnings(site) - before <= refused + 30, "the log is flooded");
  const slowest = Math.max(...answers.map(({ ms }) => ms));
  return `${pages} pages 200, ${refused} of 100 sign-ups refused, the slowest in ${Math.round(slowest)} ms`;
}

/** Requests `path` until aborted, at least 5 times. Returns how often. */
async function poll(site: Site, path: string, expected: number, signal: AbortSignal): Promise<number> {
  let count = 0;
  for (; !signal.aborted || count < 5; count++) {
    assert.equal(await probe(site, path), expected, `status of ${path} during the fault`);
    await sleep(20);
  }
  return count;
}

async function probe(site: Site, path: string): Promise<number> {
  const { status, ms } = await visit(site, path);
  assert(ms < pageLimit, `${path} took ${Math.round(ms)} ms`);
  return status;
}

async function signUpAgain(visitors: Visitors, site: Site): Promise<boolean> {
  const answers = await visitors.signUp(site, 1);
  assertAnswered(answers);
  return countStatus(answers, 201) === 1;
}

/** How many lines of the log are warnings or worse. */
const countWarnings = (site: Site) => site.stdout().match(/"level":[456]0/g)?.length ?? 0;
