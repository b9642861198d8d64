// What the site must do while the database has a fault, and after it: the promise that every such scenario tests.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "../support/site.ts";
import type { Stand } from "./scenario.ts";
import { assertInTime, assertJoined, createVisitors, type Visitors } from "./visitors.ts";

export interface Fault {
  /** Resolves when it is there, so that the site could know. */
  begin(visitors: Visitors): unknown;
  end(): unknown;
}

/** In milliseconds. */
const probePatience = 2_000;
const recoveryPatience = 15_000;

/**
 * Causes the fault, watches pages, probes and two crowds of visitors meanwhile, ends it, and sees that all recovers.
 * @returns what was seen.
 */
export async function endure(stand: Stand, site: Site, fault: Fault): Promise<string> {
  const visitors = createVisitors(stand);
  assertJoined(await visitors.signUp(site, 20));
  assert.equal((await probe(site, "/readyz")).status, 200);
  await fault.begin(visitors);
  const seen = await untilNotReady(site)
    .then(() => meanwhile(visitors, site))
    .finally(() => fault.end()); // Also where a promise was broken: nobody could stop a frozen Postgres.
  const recovered = await recover(visitors, site);
  assertAlive(site);
  return `${seen}; recovered in ${inSeconds(recovered)}; ${await visitors.assertKept()} kept`;
}

/** Before anybody signs up: whoever reads /readyz learns of the fault first. */
async function untilNotReady(site: Site): Promise<void> {
  const deadline = performance.now() + recoveryPatience;
  for (;;) {
    const { status, ms } = await probe(site, "/readyz");
    assert(ms < probePatience, `/readyz took ${Math.round(ms)} ms`);
    if (status === 503) return;
    assert(performance.now() < deadline, "/readyz does not see the fault");
  }
}

/** While visitors come at once and one after the other, more than there are connections, pages and probes are asked again and again. */
async function meanwhile(visitors: Visitors, site: Site): Promise<string> {
  const done = new AbortController();
  const before = complaints(site);
  const signups = Promise.all([visitors.signUp(site, 50), visitors.signUp(site, 50, 50)]);
  const [pages, , notReady, [atOnce, inTurn]] = await Promise.all([
    ask(site, "/", 200, done.signal),
    ask(site, "/healthz", 200, done.signal),
    ask(site, "/readyz", 503, done.signal),
    signups.finally(() => done.abort()),
  ]);
  const answers = [...atOnce, ...inTurn];
  assertInTime(answers);
  const refused = answers.filter(({ status }) => status === 503).length;
  // One line for each of them, and a few for connections and the change of /readyz.
  assert(complaints(site) - before <= refused + 30, "the log is flooded");
  const slowest = Math.max(...answers.map(({ ms }) => ms));
  return `${pages.count} pages 200, /readyz 503 in ${inSeconds(notReady.slowest)}, ${refused} of ${answers.length} refused in ${inSeconds(slowest)}`;
}

/** Asks for `path` until told to stop, and at least 5 times. */
async function ask(site: Site, path: string, wanted: number, signal: AbortSignal) {
  let slowest = 0;
  let count = 0;
  for (; !signal.aborted || count < 5; count++) {
    const { status, ms } = await probe(site, path);
    assert.equal(status, wanted, `the answer to ${path} during the fault`);
    assert(ms < probePatience, `${path} took ${Math.round(ms)} ms`);
    slowest = Math.max(slowest, ms);
    await sleep(20);
  }
  return { count, slowest };
}

/** As visitors do: somebody tries again until it works. Then all is well at once. */
async function recover(visitors: Visitors, site: Site): Promise<number> {
  const began = performance.now();
  for (;;) {
    const answers = await visitors.signUp(site, 1);
    assertInTime(answers);
    if (answers[0]?.status === 201) break;
    assert(performance.now() - began < recoveryPatience, "sign-ups did not recover");
    await sleep(100);
  }
  const took = performance.now() - began;
  await sleep(300); // A probe's answer counts for 250 ms.
  assert.equal((await probe(site, "/readyz")).status, 200, "/readyz after a sign-up was stored again");
  assertJoined(await visitors.signUp(site, 50));
  return took;
}

export async function probe(site: Site, path: string): Promise<{ status: number; ms: number }> {
  const began = performance.now();
  const response = await fetch(site.url + path, { signal: AbortSignal.timeout(4 * probePatience) });
  await response.arrayBuffer();
  return { status: response.status, ms: performance.now() - began };
}

/** The process that was started is still there and had nothing to say outside its log. */
export function assertAlive(site: Site): void {
  assert.equal(site.process.exitCode ?? site.process.signalCode, null, "the site ended");
  assert.equal(site.stderr(), "", "stderr of the site");
}

/** How often the log warned or worse. */
function complaints(site: Site): number {
  return site.stdout().match(/"level":[456]0/g)?.length ?? 0;
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
