// Page views of the built site: a scripted crowd, two processes, a lost database, and the beacon in a browser.
import { Agent, request } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { openPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";
import { openWire } from "../support/tcp-proxy.ts";

const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const browsers = [
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
  "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
  "Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36",
];
const bots = [
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36",
  "python-requests/2.32.3",
];

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.query("TRUNCATE earlyaccess_views"));

const start = (env: Record<string, string> = {}) => startSite({ env: { DATABASE_URL: database.webUrl, ...env } });

const stored = async () =>
  Object.fromEntries(
    (await database.query("SELECT source, sum(views)::int AS views FROM earlyaccess_views GROUP BY 1")).map((row) => [
      row.source,
      row.views,
    ]),
  );

/** Loads the pages with 20 connections, and returns how many had each status. */
async function load(site: Site, loads: { path?: string; headers: Record<string, string> }[]) {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const statuses: Record<number, number> = {};
  await Promise.all(
    loads.map(
      ({ path = "/", headers }) =>
        new Promise<void>((resolve, reject) => {
          const sent = request(site.url + path, { agent, headers }, (response) => {
            statuses[response.statusCode as number] = (statuses[response.statusCode as number] ?? 0) + 1;
            response.resume().once("end", resolve);
          });
          sent.once("error", reject).end();
        }),
    ),
  );
  agent.destroy();
  return statuses;
}

const visit = (i: number, more: Record<string, string> = {}) => ({
  "User-Agent": browsers[i % browsers.length] as string,
  Accept: accept,
  ...more,
});
const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i));

it("counts exactly the 1,000 loads of a crowd with 300 bots and 100 prefetches", async () => {
  const site = await start();
  const { headers } = await fetch(site.url, { headers: { "Accept-Encoding": "identity" } }); // Not a view: it accepts anything.
  const crowd = [
    ...many(400, (i) => ({ headers: visit(i) })),
    ...many(300, (i) => ({
      path: "/?utm_source=news&utm_medium=mail",
      headers: visit(i, { Referer: "https://mail.example/" }),
    })),
    ...many(200, (i) => ({ headers: visit(i, { Referer: "https://blog.example/post/1" }) })),
    ...many(100, (i) => ({ headers: visit(i, { "If-None-Match": headers.get("etag") as string }) })),
    ...many(300, (i) => ({ headers: { Accept: accept, "User-Agent": bots[i % bots.length] as string } })),
    ...many(100, (i) => ({ headers: visit(i, { "Sec-Purpose": i % 2 ? "prefetch" : "prefetch;prerender" }) })),
    ...many(100, (i) => ({ path: i % 2 ? "/privacy" : "/nope", headers: visit(i) })),
  ];
  expect(await load(site, crowd)).toEqual({ 200: 1_350, 304: 100, 404: 50 });
  expect(await stored()).toEqual({});
  await site.stop(); // SIGTERM stores the rest.
  expect(await stored()).toEqual({ direct: 500, news: 300, "blog.example": 200 });
  expect(site.stderr()).toBe("");
});

it("adds the views of two processes, and bounds a flood of sources", async () => {
  const sites = await Promise.all([start(), start()]);
  await Promise.all(
    sites.map((site) =>
      load(
        site,
        many(2_000, (i) => ({ path: `/?utm_source=flood-${i}`, headers: visit(i) })),
      ),
    ),
  );
  await Promise.all(sites.map((site) => site.stop()));
  const views = await stored();
  expect([views.other, Object.keys(views).length <= 201]).toEqual([3_800, true]);
});

it("stores nothing with COUNT_VIEWS=off", async () => {
  const site = await start({ COUNT_VIEWS: "off" });
  await load(
    site,
    many(10, (i) => ({ headers: visit(i) })),
  );
  await site.stop();
  expect(await stored()).toEqual({});
});

it("keeps a day, a source and a number, and nothing about the visitor", async () => {
  const columns = await database.query(
    "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'earlyaccess_views' ORDER BY name",
  );
  expect(columns.map(({ name }) => name)).toEqual(["day", "id", "source", "views"]);
});

it("serves pages while the database is down, and stores their views afterwards", async () => {
  const wire = await openWire(database.webUrl);
  const site = await start({ DATABASE_URL: wire.url(database.webUrl) });
  await wire.cut();
  expect(
    await load(
      site,
      many(50, (i) => ({ headers: visit(i) })),
    ),
  ).toEqual({ 200: 50 });
  await wire.mend();
  await site.stop();
  expect(await stored()).toEqual({ direct: 50 });
  await wire.cut();
});

it("says how many views are lost if the database is down at the stop", async () => {
  const wire = await openWire(database.webUrl);
  const site = await start({ DATABASE_URL: wire.url(database.webUrl) });
  await load(
    site,
    many(5, (i) => ({ headers: visit(i) })),
  );
  await wire.cut();
  expect(await site.stop()).toBe(0);
  expect(site.stdout()).toMatch(/"views":5,"msg":"page views are lost/);
});

it("counts the loads of a browser by their beacons, once the page is visible", async () => {
  const site = await start({ COUNT_VIEWS: "beacon" });
  const [userAgent] = browsers;
  for (const path of ["/", "/?utm_source=news", "/?utm_source=news#early-access", "/privacy", "/nope"]) {
    const page = await openPage({ userAgent: userAgent as string });
    await page.goto(site.url + path);
    await page.waitForLoadState("networkidle");
    expect(page.messages.filter((message) => !message.includes("404"))).toEqual([]);
  }
  const linked = await openPage({ userAgent: userAgent as string });
  await linked.route("http://blog.example/", (route) =>
    route.fulfill({ contentType: "text/html", body: `<a href="${site.url}/">Perennial</a>` }),
  );
  await linked.goto("http://blog.example/");
  await linked.getByRole("link").click();
  await linked.waitForLoadState("networkidle");
  const hidden = await openPage({ userAgent: userAgent as string });
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
