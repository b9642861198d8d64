// Floods of sign-ups from many networks: no honest visitor is refused for them, and no memory stays.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "../support/site.ts";
import { assertWell, residentMemory, signupRequest } from "./crowd.ts";
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

const clients = 110_000;
const windowSeconds = 10;
/** In MB: what V8 keeps of the memory that it freed. As much again would be taken for each further flood, were it a leak. */
const remainder = 40;

/** An invalid sign-up from a network that nobody else has. */
function refusedSignup(_: unknown, i: number): string {
  const client = `2${(i >> 16).toString(16).padStart(3, "0")}:${(i & 0xff_ff).toString(16)}::1`;
  const headers = `Host: localhost\r\nContent-Type: application/json\r\nX-Forwarded-For: ${client}\r\n`;
  return `POST /api/earlyaccess HTTP/1.1\r\n${headers}Content-Length: 2\r\n\r\n{}`;
}

const newClients: Scenario = {
  name: `${clients.toLocaleString("en")} requests, each from a new client`,
  async run(stand) {
    const site = await stand.startSite({ TRUST_PROXY: "1", SIGNUP_WINDOW_SECONDS: `${windowSeconds}` });
    await load(
      site,
      64,
      Array.from({ length: 20_000 }, (_, i) => refusedSignup(_, i % 5)),
    ); // Warms up.
    await sleep(5_000);
    const before = residentMemory(site);
    const statuses = await load(site, 64, Array.from({ length: clients }, refusedSignup));
    const peak = residentMemory(site);
    await sleep(2 * windowSeconds * 1_000 + 5_000); // A window ends, and is forgotten within another one.
    const after = residentMemory(site);
    await assertWell(site);
    assert((statuses.get("422") ?? 0) >= clients - 5, "a new client was limited");
    assert(peak < 200 && after <= before + remainder, `Memory grew: ${before}, ${peak}, ${after} MB`);
    return `${before} MB before, ${peak} MB with 100,000 clients and networks remembered, ${after} MB after their windows`;
  },
};

export const signupFloods: Scenario[] = [manyNetworks, oneNetwork, newClients];
