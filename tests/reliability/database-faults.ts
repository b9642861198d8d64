// Faults of the database under load: pages stay up, sign-ups are stored or refused in time, and the site recovers by itself.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { withClient } from "../support/postgres.ts";
import { type Site, until } from "../support/run.ts";
import {
  type Answer,
  assertAnswered,
  assertConfirmed,
  assertRunning,
  countStatus,
  createVisitors,
  poll,
  probe,
  type Stack,
  type StackScenarios,
  type Visitors,
  withStack,
} from "../support/stack.ts";
import { openWire } from "../support/tcp-proxy.ts";

const run = promisify(execFile);

/** Sign-ups every 100 ms while Postgres is stopped. */
const frozenSignups = 60;

export const databaseFaults: StackScenarios = {
  "Postgres goes silent, and fails over": async (stack) => {
    const wire = await openWire(stack.postgres.webUrl);
    const fault = { begin: () => wire.stall(), end: () => wire.forget() };
    const site = await stack.startSite({ DATABASE_URL: wire.url(stack.postgres.webUrl) });
    return endure(stack, site, fault).finally(() => wire.cut());
  },
  "Postgres is stopped (SIGSTOP), and continues": async (stack) => {
    const site = await stack.startSite();
    const visitors = createVisitors(stack);
    assertConfirmed(await visitors.signUp(site, 20));
    stack.postgres.signal("SIGSTOP");
    const answers = visitors.signUp(site, frozenSignups, 100);
    await sleep(frozenSignups * 100);
    stack.postgres.signal("SIGCONT");
    assertConfirmed(await visitors.signUp(site, 20, 100));
    assertAnswered(await answers);
    assertRunning(site);
    const refused = countStatus(await answers, 503);
    const slowest = Math.round(Math.max(...(await answers).map(({ ms }) => ms)));
    return `${refused} of ${frozenSignups} sign-ups refused, the slowest in ${slowest} ms; then all stored; ${await visitors.assertStored()} confirmed sign-ups stored`;
  },
  "a session holds an entry, and three clients sign up its address": async (stack) => {
    const site = await stack.startSite();
    const visitors = createVisitors(stack);
    assertConfirmed(await visitors.signUp(site, 20));
    return withClient(stack.postgres.ownerUrl, async (session) => {
      await session.query("BEGIN; UPDATE earlyaccess SET status = 'invited' WHERE email = 'ada.1@example.com'");
      const bursts = await signUpBesideLocked(visitors, site, 90, 4_000);
      const steady = await signUpBesideLocked(visitors, site, 1, 333);
      return `sign-ups of others beside 90 each 4 s: ${bursts}; beside three a second: ${steady}`;
    });
  },
};

export async function fillDisk(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "perennial-disk-"));
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const execute = ([file = "", ...args]: string[]) => run(file, args);
  await execute([...asRoot, "mount", "-t", "tmpfs", "-o", "size=160m,mode=1777", "tmpfs", path]);
  const useFullDisk = async (stack: Stack) => {
    const site = await stack.startSite({}, { log: "/dev/full" });
    return endure(stack, site, {
      begin: async (visitors) => {
        await assert.rejects(run("dd", ["if=/dev/zero", `of=${path}/ballast`, "bs=64K"]), /No space left/);
        await signUpUntilRefused(visitors, site);
      },
      end: () => rm(join(path, "ballast")),
    });
  };
  try {
    return await withStack(useFullDisk, path);
  } finally {
    await execute([...asRoot, "umount", "--lazy", path]);
    await rmdir(path);
  }
}

/**
 * Signs up other visitors, none of whom may be refused, beside sign-ups of a locked address.
 * @param interval in milliseconds between bursts of `size` sign-ups of the address.
 */
async function signUpBesideLocked(visitors: Visitors, site: Site, size: number, interval: number): Promise<string> {
  const others = visitors.signUp(site, 100, 100);
  const repeated: Promise<Answer | undefined>[] = [];
  for (let elapsed = 0; elapsed < 10_000; elapsed += interval) {
    for (let i = 0; i < size; i++) repeated.push(visitors.tryToSignUp(site, "1"));
    await sleep(interval);
  }
  assertConfirmed(await others);
  const refused = await Promise.all(repeated);
  assert.equal(countStatus(refused, 503), refused.length, "sign-ups of the locked address that were refused");
  const times = (await others).map(({ ms }) => ms).toSorted((a, b) => a - b);
  return `median ${times[50]?.toFixed()} ms, 95 % within ${times[95]?.toFixed()} ms`;
}

interface Fault {
  /** Resolves when the site can notice the fault. */
  begin(visitors: Visitors): unknown;
  end(): unknown;
}

/** Begins the fault, sends visitors and probes, ends it, and waits for the recovery. Returns the measurements. */
async function endure(stack: Stack, site: Site, fault: Fault): Promise<string> {
  const visitors = createVisitors(stack);
  assertConfirmed(await visitors.signUp(site, 20));
  assert.equal(await probe(site, "/readyz"), 200);
  await fault.begin(visitors);
  // Before any sign-up: a load balancer notices the fault first.
  await until("/readyz reports the fault", async () => (await probe(site, "/readyz")) === 503, 15);
  const seen = await loadDuringFault(visitors, site);
  await fault.end();
  const began = performance.now();
  await until("sign-ups work again", () => signUpAgain(visitors, site), 15);
  const recovered = ((performance.now() - began) / 1000).toFixed(1);
  await sleep(300); // The site caches the result of a probe for 250 ms.
  assert.equal(await probe(site, "/readyz"), 200, "/readyz after a sign-up was stored again");
  assertConfirmed(await visitors.signUp(site, 50));
  assertRunning(site);
  assert.equal(await site.stop(), 0);
  return `${seen}; recovered in ${recovered} s; ${await visitors.assertStored()} confirmed sign-ups stored`;
}

/** Sends 50 sign-ups at once and 50 in turn, which are more than there are connections to Postgres, and polls pages and probes. */
async function loadDuringFault(visitors: Visitors, site: Site): Promise<string> {
  const done = new AbortController();
  const before = countWarnings(site);
  const signups = Promise.all([visitors.signUp(site, 50), visitors.signUp(site, 50, 30)]);
  const [answers, pages] = await Promise.all([
    signups.then((both) => both.flat()).finally(() => done.abort()),
    poll(site, "/", 200, done.signal),
    poll(site, "/healthz", 200, done.signal),
    poll(site, "/readyz", 503, done.signal),
  ]);
  assertAnswered(answers);
  const refused = countStatus(answers, 503);
  // One line for each refused sign-up, and a few for connections and the change of /readyz.
  assert(countWarnings(site) - before <= refused + 30, "the log is flooded");
  const slowest = Math.max(...answers.map(({ ms }) => ms));
  return `${pages} pages 200, ${refused} of 100 sign-ups refused, the slowest in ${Math.round(slowest)} ms`;
}

async function signUpAgain(visitors: Visitors, site: Site): Promise<boolean> {
  const answers = await visitors.signUp(site, 1);
  assertAnswered(answers);
  return countStatus(answers, 201) === 1;
}

/** Counts the lines of the log that are warnings or worse. */
const countWarnings = (site: Site) => site.stdout().match(/"level":[456]0/g)?.length ?? 0;

/** Fills the pages of the table: first with crowds, then with single sign-ups that fit into the last gap. */
async function signUpUntilRefused(visitors: Visitors, site: Site): Promise<void> {
  for (const crowd of [200, 1]) {
    for (let refused = 0; refused < 5;) {
      const answers = await visitors.signUp(site, crowd);
      assertAnswered(answers);
      refused = countStatus(answers, 503) === crowd ? refused + 1 : 0;
    }
  }
}
