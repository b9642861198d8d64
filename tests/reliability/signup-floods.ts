// Floods of sign-ups from many networks: no other visitor is refused because of them, and the memory for the limits is freed.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "../support/site.ts";
import { signupBody, type Stack, type StackScenarios } from "../support/stack.ts";
import { assertHealthy, load, memoryMargin, postJson, residentMemory, signupRequest } from "./connections.ts";

const networks = 10_000;
const visitors = 500;
const ceiling = 1_000;
const limits = { TRUST_PROXY: "1", SIGNUP_LIMIT: "10", SIGNUP_HOURLY_CEILING: `${ceiling}` };
const clients = 50_000;
const windowSeconds = 10;

export const signupFloods: StackScenarios = {
  "a flood of sign-ups from many networks": async (stack) => {
    const site = await stack.startSite(limits);
    const flood = Array.from({ length: 2 * networks }, (_, i) => {
      const network = i % networks;
      return signupRequest(`flood.${i}`, `10.${network >> 8}.${network & 255}.1`);
    });
    const [stored, statuses] = await Promise.all([signUpVisitors(site), load(site, 64, flood)]);
    assert.deepEqual(statuses, { 201: flood.length });
    assert.equal(stored, visitors);
    assert.equal(await countEntries(stack, "email LIKE 'ada.visitor.%'"), visitors);
    const above = flood.length + visitors - ceiling;
    const flagged = await countEntries(stack, "unusual_volume");
    assert(flagged >= 0.99 * above && flagged <= above, `${flagged} of ${above} above the ceiling are flagged`);
    await assertHealthy(site);
    return `${networks} networks; all ${visitors} other sign-ups stored; ${flagged} of ${above} above the ceiling flagged`;
  },
  "a flood of requests, each from a new client": async (stack) => {
    const site = await stack.startSite({ TRUST_PROXY: "1", SIGNUP_WINDOW_SECONDS: `${windowSeconds}` });
    await load(site, 64, Array<string>(10_000).fill(invalidSignup(0))); // Warm-up.
    const before = residentMemory(site);
    const statuses = await load(
      site,
      64,
      Array.from({ length: clients }, (_, i) => invalidSignup(i + 1)),
    );
    const peak = residentMemory(site);
    await sleep(2_000 * windowSeconds); // A window ends, and the site forgets it within another.
    const after = residentMemory(site);
    await assertHealthy(site);
    assert.deepEqual(statuses, { 422: clients }, "a new client was limited");
    const memory = `${clients} clients; memory ${before} MB before, ${peak} MB at the end of the flood, ${after} MB after its windows`;
    assert(peak < 200 && after <= before + memoryMargin, memory);
    return memory;
  },
};

async function countEntries(stack: Stack, condition: string): Promise<number> {
  const [row] = await stack.query(`SELECT count(*)::int AS count FROM earlyaccess WHERE ${condition}`);
  return Number(row?.count);
}

/** Signs up visitors from different networks, half of them by the form without JavaScript. Returns how many succeeded. */
async function signUpVisitors(site: Site): Promise<number> {
  let stored = 0;
  for (let i = 0; i < visitors; i++) {
    const body = signupBody(`visitor.${i}`);
    const client = { "X-Forwarded-For": `198.18.${i % 256}.${Math.floor(i / 256)}` };
    const response = await fetch(`${site.url}/api/earlyaccess`, {
      method: "POST",
      redirect: "manual",
      ...(i % 2 === 0
        ? { headers: { ...client, "Content-Type": "application/json" }, body: JSON.stringify(body) }
        : { headers: { ...client, Accept: "text/html" }, body: new URLSearchParams(body) }),
    });
    await response.arrayBuffer();
    if (response.status === (i % 2 === 0 ? 201 : 303)) stored++;
  }
  return stored;
}

/** An invalid sign-up from a network of its own. */
function invalidSignup(i: number): string {
  const client = `2${(i >> 16).toString(16).padStart(3, "0")}:${(i & 0xff_ff).toString(16)}::1`;
  return `${postJson}X-Forwarded-For: ${client}\r\nContent-Length: 2\r\n\r\n{}`;
}
