// Page views of the built site: what is kept, two processes, and a browser.
import { beforeEach, expect, it } from "vitest";
import { openPage } from "../support/browser.ts";
import { ready, startSite } from "../support/site.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database } = await createWaitlistFixture();

beforeEach(() => database.query("TRUNCATE earlyaccess_views"));

const start = () => startSite({ env: { DATABASE_URL: database.webUrl } });

async function stored(): Promise<Record<string, unknown>> {
  const rows = await database.query("SELECT source, views FROM earlyaccess_views");
  return Object.fromEntries(rows.map(({ source, views }) => [source, views]));
}

it("page views of two processes add up in the same rows when they stop", async () => {
  const sites = await Promise.all([start(), start()]);
  await Promise.all(sites.map(ready));
  for (const { url } of sites) {
    for (const source of ["news", "", ""]) {
      expect((await fetch(`${url}/api/view?utm_source=${source}`, { method: "POST" })).status).toBe(204);
    }
  }
  await Promise.all(sites.map((site) => site.stop()));
  const day = expect.any(Date) as Date;
  // In one order: otherwise, two processes could each hold a row that the other needs.
  expect(await database.query("SELECT * FROM earlyaccess_views ORDER BY ctid")).toEqual([
    { day, source: "direct", views: 4 },
    { day, source: "news", views: 2 },
  ]);
});

it("page views are counted when a browser shows the page, not before", async () => {
  const site = await start();
  await ready(site);
  for (const path of ["/", "/?utm_source=news", "/?utm_source=news#early-access", "/?joined", "/privacy", "/nope"]) {
    const page = await openPage({ url: site.url + path });
    await page.waitForLoadState("networkidle");
    expect(page.messages.filter((message) => !message.includes("404"))).toEqual([]);
  }
  const linked = await openPage();
  await linked.route("http://blog.example/", (route) =>
    route.fulfill({ contentType: "text/html", body: `<a href="${site.url}/">Perennial</a>` }),
  );
  await linked.goto("http://blog.example/");
  await linked.getByRole("link").click();
  await linked.waitForLoadState("networkidle");
  const hidden = await openPage();
  await hidden.addInitScript("Object.defineProperty(document, 'visibilityState', { value: 'hidden' })");
  await hidden.goto(site.url);
  await hidden.waitForLoadState("networkidle");
  const beacons = () => hidden.sentRequests.filter((sent) => sent.includes("/api/view")).length;
  expect(beacons()).toBe(0);
  await hidden.evaluate("for (let i = 0; i < 2; i++) document.dispatchEvent(new Event('visibilitychange'))");
  await expect.poll(beacons).toBe(1);
  await site.stop();
  expect(await stored()).toEqual({ direct: 2, news: 2, "blog.example": 1 });
});
