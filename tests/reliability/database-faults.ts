// Faults of the database under load: pages stay up, sign-ups are stored or refused in time, and the site recovers by itself.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Site, until } from "../support/run.ts";
import {
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

export const databaseFaults: StackScenarios = {
  "Postgres goes silent, and fails over": async (stack) => {
    const wire = await openWire(stack.postgres.webUrl);
    const fault = { begin: () => wire.stall(), end: () => wire.forget() };
    const site = await stack.startSite({ DATABASE_URL: wire.url(stack.postgres.webUrl) });
    return endure(stack, site, fault).finally(() => wire.cut());
  },
  "Postgres is stopped (SIGSTOP), and continues": async (stack) =>
    endure(stack, await stack.startSite(), {
      begin: () => stack.postgres.signal("SIGSTOP"),
      end: () => stack.postgres.signal("SIGCONT"),
    }),
};

/** @param use gets the path of a disk of 160 MB. */
export async function withSmallDisk<T>(use: (path: string) => Promise<T>): Promise<T> {
  const path = await mkdtemp(join(tmpdir(), "perennial-disk-"));
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const execute = ([file = "", ...args]: string[]) => run(file, args);
  await execute([...asRoot, "mount", "-t", "tmpfs", "-o", "size=160m,mode=1777", "tmpfs", path]);
  try {
    return await use(path);
  } finally {
    await execute([...asRoot, "umount", "--lazy", path]);
    await rmdir(path);
  }
}

/** Returns a function that makes room again. */
export async function fill(path: string): Promise<() => Promise<void>> {
  await assert.rejects(run("dd", ["if=/dev/zero", `of=${path}/ballast`, "bs=64K"]), /No space left/);
  return () => rm(join(path, "ballast"));
}

export async function fillDisk(): Promise<string> {
  return withSmallDisk((path) =>
    withStack(async (stack) => {
      const site = await stack.startSite({}, { log: "/dev/full" });
      return endure(stack, site, {
        isReadyDuring: true, // An empty batch needs no space. Sign-ups get 503 themselves.
        begin: async (visitors) => {
          await fill(path);
          await signUpUntilRefused(visitors, site);
        },
        end: () => rm(join(path, "ballast")),
      });
    }, path),
  );
}

interface Fault {
  isReadyDuring?: boolean;
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
  if (!fault.isReadyDuring) {
    await until("/readyz reports the fault", async () => (await probe(site, "/readyz")) === 503, 15);
  }
  const seen = await loadDuringFault(visitors, site, fault.isReadyDuring);
  await fault.end();
  const began = performance.now();
  const signUpAgain = async () => {
    const answers = await visitors.signUp(site, 1);
    assertAnswered(answers);
    return countStatus(answers, 201) === 1;
  };
  await until("sign-ups work again", signUpAgain, 15);
  const recovered = ((performance.now() - began) / 1000).toFixed(1);
  await sleep(300); // The site caches the result of a probe for 250 ms.
  assert.equal(await probe(site, "/readyz"), 200, "/readyz after a sign-up was stored again");
  assertConfirmed(await visitors.signUp(site, 50));
  assertRunning(site);
  assert.equal(await site.stop(), 0);
  return `${seen}; recovered in ${recovered} s; ${await visitors.assertStored()} confirmed sign-ups stored`;
}

/** Sends 50 sign-ups at once and 50 in turn, which are more than there are connections to Postgres, and polls pages and probes. */
async function loadDuringFault(visitors: Visitors, site: Site, isReadyDuring = false): Promise<string> {
  const done = new AbortController();
  const before = countWarnings(site);
  const signups = Promise.all([visitors.signUp(site, 50), visitors.signUp(site, 50, 30)]);
  const [answers, pages] = await Promise.all([
    signups.then((both) => both.flat()).finally(() => done.abort()),
    poll(site, "/", 200, done.signal),
    poll(site, "/healthz", 200, done.signal),
    isReadyDuring || poll(site, "/readyz", 503, done.signal),
  ]);
  assertAnswered(answers);
  const refused = countStatus(answers, 503);
  // One line for each refused sign-up, and a few for connections and the change of /readyz.
  assert(countWarnings(site) - before <= refused + 30, "the log is flooded");
  const slowest = Math.max(...answers.map(({ ms }) => ms));
  return `${pages} pages 200, ${refused} of 100 sign-ups refused, the slowest in ${Math.round(slowest)} ms`;
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
