// WAITLIST_CLOSES of the built site.
import { expect, it } from "vitest";
import { killedAfterEach } from "../support/killed-after-each.ts";
import { startSite, type Site } from "../support/site.ts";
import { until } from "../support/until.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database } = createWaitlistFixture();
const running = killedAfterEach();

async function start(settings: Record<string, string>) {
  const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl, ...settings };
  const site = await startSite({ env });
  running.push(site);
  return site;
}

async function join(url: string, email: string) {
  const body = JSON.stringify({ name: "Ada", email, company: "Engines" });
  const headers = { "Content-Type": "application/json" };
  return (await fetch(`${url}/api/earlyaccess`, { method: "POST", headers, body })).status;
}

const hasForm = async (url: string) => (await (await fetch(url)).text()).includes('action="/api/earlyaccess"');

it("a running site closes by itself at WAITLIST_CLOSES", async () => {
  const { site, closes } = await startOpen();
  await until("the page is closed", async () => !(await hasForm(site.url)), 50);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(closes));
  expect(await join(site.url, "b@example.com")).toBe(410);
  expect(await site.stop()).toBe(0);
});

/** Starts a site that closes soon, and signs up before. On a busy machine, the start may take longer than the list is open. */
async function startOpen(seconds = 5): Promise<{ site: Site; closes: string }> {
  const closes = new Date(Date.now() + seconds * 1_000).toISOString();
  const site = await start({ WAITLIST_CLOSES: closes.replace(/\.\d+Z$/, "Z") });
  const status = await join(site.url, "a@example.com");
  if (status === 410 && seconds < 45) return startOpen(3 * seconds);
  expect(status).toBe(201);
  return { site, closes: closes.replace(/\.\d+Z$/, "Z") };
}
