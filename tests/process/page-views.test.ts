// Page views of the built site: two processes, a lost database, and a browser.
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { openPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { ready, startSite, type Site } from "../support/site.ts";
import { openWire } from "../support/tcp-proxy.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.query("TRUNCATE earlyaccess_views"));

const start = (env: Record<string, string> = {}) =>
  startSite({ env: { DATABASE_URL: database.webUrl, SIGNUP_LIMIT: "1000", ...env } });

const stored = async () =>
  Object.fromEntries(
    (await database.query("SELECT source, views FROM earlyaccess_views")).map((row) => [row.source, row.views]),
  );

async function report(site: Site, count: number, source: (i: number) => string = () => ""): Promise<void> {
  const send = (i: number) => fetch(`${site.url}/api/view?utm_source=${source(i)}`, { method: "POST" });
  const responses = await Promise.all(Array.from({ length: count }, (_, i) => send(i)));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([204]));
}

it("the table keeps a day, a source and a number, and nothing about the visitor", async () => {
  const columns = await database.query(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'earlyaccess_views' ORDER BY name",
  );
  expect(columns.map(({ name }) => name)).toEqual(["day", "source", "views"]);
});

it("two processes add to the same rows when they stop, and a flood of sources is bounded", async () => {
  const sites = await Promise.all([start(), start()]);
  await Promise.all(sites.map(ready));
  await Promise.all(sites.map((site) => report(site, 300, (i) => `flood-${i}`)));
  await Promise.all(sites.map((site) => report(site, 10)));
  await Promise.all(sites.map((site) => site.stop()));
  const views = await stored();
  expect([views.direct, views.other]).toEqual([20, 400]);
  expect(Object.keys(views).length).toBeLessThanOrEqual(202); // Each process names the first 100 that reach it.
});

it("views are counted while the database is down, and stored afterwards", async () => {
  const wire = await openWire(database.webUrl);
  const site = await start({ DATABASE_URL: wire.url(database.webUrl) });
  await wire.cut();
  await report(site, 50);
  await wire.mend();
  await site.stop();
  expect(await stored()).toEqual({ direct: 50 });
  await wire.cut();
});

it("the loads of a browser are counted once the page is visible", async () => {
  const site = await start();
  for (const path of ["/", "/?utm_source=news", "/?utm_source=news#early-access", "/privacy", "/nope"]) {
    const page = await openPage();
    await page.goto(site.url + path);
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
  await hidden.addInitScript(
    "Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })",
  );
  await hidden.goto(site.url);
  await hidden.waitForLoadState("networkidle");
  const beacons = () => hidden.sentRequests.filter((sent) => sent.includes("/api/view")).length;
  expect(beacons()).toBe(0);
  await hidden.evaluate(
    "document.dispatchEvent(new Event('visibilitychange')); document.dispatchEvent(new Event('visibilitychange'))",
  );
  await expect.poll(beacons).toBe(1);
  await site.stop();
  expect(await stored()).toEqual({ direct: 2, news: 2, "blog.example": 1 });
});
