// Floods of sign-ups from many networks: no honest visitor is refused for them, and no memory stays.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "../support/site.ts";
import { assertWell, memoryMargin, residentMemory, signupRequest } from "./crowd.ts";
import { load } from "./floods.ts";
import type { Scenario, Stand } from "./scenario.ts";
import { visitor } from "./stand.ts";

const networks = 10_000;
const honest = 500;
const ceiling = 1_000;

/** A sign-up that a proxy passed on. */
const signupFrom = (client: string, name: number | string) =>
  signupRequest(name).replace("\r\n", `\r\nX-Forwarded-For: ${client}\r\n`);

async function countEntries(stand: Stand, condition: string): Promise<number> {
  const [row] = await stand.query(`SELECT count(*)::int AS count FROM earlyaccess WHERE ${condition}`);
  return Number(row?.count);
}

/** Half of them post the form without JavaScript. @returns how many were told that they are on the list. */
async function signUpHonestly(site: Site): Promise<number> {
  let joined = 0;
  for (let i = 0; i < honest; i++) {
    const entry = visitor(`honest.${i}`);
    const client = { "X-Forwarded-For": `198.18.${i % 256}.${Math.floor(i / 256)}` };
    const response = await fetch(`${site.url}/api/earlyaccess`, {
      method: "POST",
      redirect: "manual",
      ...(i % 2 === 0
        ? { headers: { ...client, "Content-Type": "application/json" }, body: JSON.stringify(entry) }
        : { headers: { ...client, Accept: "text/html" }, body: new URLSearchParams(entry) }),
    });
    await response.arrayBuffer();
    if (response.status === (i % 2 === 0 ? 201 : 303)) joined++;
  }
  return joined;
}

const manyNetworks: Scenario = {
  name: `a flood of sign-ups from ${networks.toLocaleString("en")} networks`,
  async run(stand) {
    const site = await stand.startSite({ TRUST_PROXY: "1", SIGNUP_LIMIT: "10", SIGNUP_HOURLY_CEILING: `${ceiling}` });
    const flood = Array.from({ length: 3 * networks }, (_, i) => {
      const network = i % networks;
      return signupFrom(`10.${network >> 8}.${network & 255}.1`, `flood.${i}`);
    });
    const [joined, statuses] = await Promise.all([signUpHonestly(site), load(site, 64, flood)]);
    assert.deepEqual(Object.fromEntries(statuses), { 201: flood.length });
    assert.equal(joined, honest);
    assert.equal(await countEntries(stand, "email LIKE 'ada.honest.%'"), honest);
    const above = flood.length + honest - ceiling;
    const flagged = await countEntries(stand, "unusual_volume");
    assert(flagged >= 0.99 * above && flagged <= above, `${flagged} of ${above} above the ceiling are flagged`);
    await assertWell(site);
    return `${honest} of ${honest} honest sign-ups stored; ${flagged} of ${above} above the ceiling flagged`;
  },
};

const oneNetwork: Scenario = {
  name: "a flood of one address from an IPv6 /48",
  async run(stand) {
    const site = await stand.startSite({ TRUST_PROXY: "1", SIGNUP_LIMIT: "10", SIGNUP_HOURLY_CEILING: `${ceiling}` });
    const flood = Array.from({ length: 2_000 }, (_, i) =>
      signupFrom(`2001:db8:0:${(i % 256).toString(16)}00::1`, "one"),
    );
    const statuses = await load(site, 64, flood);
    assert.deepEqual(Object.fromEntries(statuses), { 201: 100, 429: 1_900 });
    assert.equal(await signUpHonestly(site), honest);
    assert.equal(await countEntries(stand, "unusual_volume"), 0);
    return `100 of 2,000 reached the list, as one entry; ${honest} of ${honest} honest sign-ups stored, none flagged`;
  },
};

const windowSeconds = 20;

const newClients: Scenario = {
  name: "150,000 requests, each from a new client",
  async run(stand) {
    const site = await stand.startSite({ TRUST_PROXY: "1", SIGNUP_WINDOW_SECONDS: `${windowSeconds}` });
    const requests = (first: number, count: number) =>
      Array.from({ length: count }, (_, i) => {
        const network = first + i;
        return signupFrom(
          `2001:db8:${(network >> 12).toString(16)}:${((network & 4_095) << 4).toString(16)}00::1`,
          "one",
        );
      });
    await load(site, 64, requests(0, 5_000)); // Warms up.
    await sleep(2 * windowSeconds * 1_000);
    const before = residentMemory(site);
    await load(site, 64, requests(10_000, 150_000));
    const peak = residentMemory(site);
    await sleep(2 * windowSeconds * 1_000 + 2_000); // A window ends, and is forgotten within another one.
    const after = residentMemory(site);
    await assertWell(site);
    assert(peak < 200, `${peak} MB of memory were taken`);
    assert(after <= before + memoryMargin, `Memory stays: ${before}, ${peak}, ${after} MB`);
    return `${before} MB before, ${peak} MB with 100,000 clients remembered, ${after} MB after their windows`;
  },
};

export const signupFloods: Scenario[] = [manyNetworks, oneNetwork, newClients];
