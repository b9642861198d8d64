// Kills in the middle of a burst of sign-ups: whoever was told 201 is on the list, whatever is killed next.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Site } from "../support/site.ts";
import { assertAlive } from "./endure.ts";
import type { Scenario, Stand } from "./scenario.ts";
import { assertInTime, assertJoined, createVisitors, type Answer, type Visitors } from "./visitors.ts";

const siteKills = 20;
const databaseKills = 5;
/** In milliseconds: how long the sign-ups of a burst take to come. A kill comes at any moment of it. */
const burstLasts = 250;
const burstSize = 200;
/** Some come twice, and at once. */
const addresses = 160;

export const kills: Scenario[] = [
  {
    name: `the site is killed in the middle of ${siteKills} bursts`,
    run: async (stand) => {
      const visitors = createVisitors(stand);
      const told = { stored: 0, nothing: 0 };
      for (let burst = 0; burst < siteKills; burst++) {
        const site = await stand.startSite();
        assertJoined(await visitors.signUp(site, 10)); // Everything is warm: the kill finds entries under way.
        const answers = await burstWith(visitors, site, burst, () => site.process.kill("SIGKILL"));
        assertJoined(answers.filter((answer) => answer !== undefined)); // Also who came twice.
        told.stored += answers.filter((answer) => answer?.status === 201).length;
        told.nothing += answers.filter((answer) => answer === undefined).length;
        await visitors.assertKept();
      }
      assert(told.stored > 0 && told.nothing > 0, "no kill came in the middle");
      return `${await visitors.assertKept()} addresses told 201, each there once; ${told.nothing} requests cut off`;
    },
  },
  {
    name: `the database is killed in the middle of ${databaseKills} bursts`,
    run: async (stand) => {
      await assertDurable(stand);
      const visitors = createVisitors(stand);
      const site = await stand.startSite();
      const told = { stored: 0, refused: 0 };
      for (let burst = 0; burst < databaseKills; burst++) {
        assertJoined(await visitors.signUp(site, 10));
        const answers = await burstWith(visitors, site, burst, () => stand.postgres.signal("SIGKILL"));
        for (const answer of answers) assert(answer, "the site gave no answer");
        assertInTime(answers as Answer[]);
        told.stored += answers.filter((answer) => answer?.status === 201).length;
        told.refused += answers.filter((answer) => answer?.status === 503).length;
        await stand.postgres.startAgain();
        await visitors.assertKept();
      }
      assert(told.stored > 0 && told.refused > 0, "no kill came in the middle");
      assertAlive(site);
      return `${await visitors.assertKept()} addresses told 201, each there once; ${told.refused} refused`;
    },
  },
  {
    name: "the database restarts under sign-ups, three times",
    run: async (stand) => {
      const visitors = createVisitors(stand);
      const site = await stand.startSite();
      const ended = new AbortController();
      const restarting = restart(stand, 3).finally(() => ended.abort());
      const answers: Answer[] = [];
      while (!ended.signal.aborted) answers.push(...(await visitors.signUp(site, 10, 1)));
      await restarting;
      assertInTime(answers);
      const refused = answers.filter(({ status }) => status === 503).length;
      assertJoined(await visitors.signUp(site, 50));
      assertAlive(site);
      return `${refused} of ${answers.length} refused, ${await visitors.assertKept()} kept`;
    },
  },
];

async function restart(stand: Stand, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await sleep(200);
    await stand.postgres.stop();
    await stand.postgres.startAgain();
  }
}

async function burstWith(visitors: Visitors, site: Site, burst: number, kill: () => void) {
  const coming = Array.from({ length: burstSize }, async (_, i) => {
    await sleep((i / burstSize) * burstLasts);
    return visitors.tryToSignUp(site, `${burst}.${Math.floor((i / burstSize) * addresses)}`);
  });
  await sleep(Math.random() * burstLasts);
  kill();
  return Promise.all(coming);
}

/** Where an administrator took these away, no site could keep the promise. */
async function assertDurable(stand: Stand): Promise<void> {
  for (const setting of ["fsync", "full_page_writes", "synchronous_commit"]) {
    const [row] = await stand.query("SELECT current_setting($1) AS value", [setting]);
    assert.equal(row?.value, "on", setting);
  }
}
