// A log that cannot be written: lines are lost, the site is not affected.
import assert from "node:assert/strict";
import { assertHealthy, getPage, load, residentMemory } from "./connections.ts";
import type { Site } from "../support/site.ts";
import type { StackScenarios } from "../support/stack.ts";

/** Their lines exceed the 64 KB that a pipe holds. */
const visits = 2_000;

async function visitOften(site: Site): Promise<void> {
  assert.deepEqual(await load(site, 16, Array<string>(visits).fill(`${getPage}\r\n`)), { 200: visits });
}

export const logFaults: StackScenarios = {
  "the log's disk is full": async (stack) => {
    const site = await stack.startSite({}, { log: "/dev/full" });
    await visitOften(site);
    await assertHealthy(site);
    const memory = residentMemory(site);
    assert.equal(await site.stop(), 0);
    assert.equal(site.stderr(), "");
    return `${visits} visits with a log on /dev/full, memory ${memory} MB; exit code 0`;
  },
};
