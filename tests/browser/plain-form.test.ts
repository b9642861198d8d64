// The form in a real browser without JavaScript.
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { launchBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";
import { openWire, type Wire } from "../support/tcp-proxy.ts";

let database: TestDatabase;
let wire: Wire;
let site: Site;
let browser: Browser;
let page: WatchedPage;

beforeAll(async () => {
  database = await createTestDatabase();
  wire = await openWire(database.webUrl);
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  await wire.cut();
  await database.drop();
});

beforeEach(async () => {
  await database.query("TRUNCATE earlyaccess");
  // Each test has the two sign-ups that it needs, so that the third is too many.
  site = await startSite({
    env: { DATABASE_URL: wire.url(database.webUrl), DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: "2" },
  });
  page = await openPage(browser, { javaScriptEnabled: false });
  await page.goto(site.url);
});

afterEach(async () => {
  await page.context().close();
  await site.stop();
});

const typed = ["Ada", "ada@example.com", "Engines", "Engineer"];
const inputs = () => page.locator("form .field input");

async function submit(values = typed) {
  for (const [i, value] of values.entries()) await inputs().nth(i).fill(value);
  await page.locator("form button").click();
}

const shown = () => inputs().evaluateAll((all) => (all as HTMLInputElement[]).map((input) => input.value));

async function expectFailure(values = typed) {
  expect(await page.title()).toMatch(/^Error: /);
  const summary = page.locator(":focus");
  expect(await summary.textContent()).toContain("Something went wrong. Please try again.");
  expect(await shown()).toEqual(values);
}

it("joins, and arrives at the success message", async () => {
  await submit();
  expect(page.url()).toBe(`${site.url}/?joined#early-access`);
  expect(await page.locator(":focus").getAttribute("id")).toBe("early-access");
  const section = page.locator("#early-access");
  expect(await section.textContent()).toContain("Welcome to the future! 🚀");
  expect(await section.textContent()).toContain(
    "You're now on the early access list. We'll notify you when we launch!",
  );
  expect(await database.query("SELECT email FROM earlyaccess")).toEqual([{ email: "ada@example.com" }]);
  expect(page.complaints).toEqual([]);
});

it("422: the summary has the focus, and its link leads to the field", async () => {
  const values = ["Ada", "ada@localhost", "Engines", ""];
  await submit(values);
  await expectFailure(values);
  await page.getByRole("link", { name: "Enter an email address like name@example.com." }).click();
  expect(await page.locator(":focus").getAttribute("name")).toBe("email");
  await submit();
  expect(page.url()).toContain("?joined");
});

it("keeps the campaign of the page's address, also through a failure", async () => {
  await page.goto(`${site.url}/?utm_source=news&utm_term=a%22b`);
  await submit(["Ada", "ada@localhost", "Engines", ""]);
  await submit();
  expect(page.url()).toContain("?joined");
  expect(await database.query("SELECT utm_source, utm_term FROM earlyaccess")).toEqual([
    { utm_source: "news", utm_term: 'a"b' },
  ]);
});

it("503: once the database is back, sending again is enough", async () => {
  await wire.cut();
  await submit();
  await expectFailure();
  await wire.mend();
  await page.locator("form button").click();
  expect(page.url()).toContain("?joined");
});

it("429: the form is empty, and the Back button returns to what was typed", async () => {
  await submit();
  await page.goto(site.url);
  await submit();
  await page.goto(site.url);
  await submit();
  await expectFailure(["", "", "", ""]);
  await page.goBack();
  expect(await shown()).toEqual(typed);
});

it("403: another site's form is refused, and ours offered without what it sent", async () => {
  const evil = `<form method="post" action="${site.url}/api/earlyaccess">
    <input name="name" value="Ada"><input name="email" value="ada@example.com">
    <input name="company" value="Engines"><input name="job_title" value="Engineer"><button>x</button></form>`;
  await page.route("http://evil.example/", (route) => route.fulfill({ contentType: "text/html", body: evil }));
  await page.goto("http://evil.example/");
  await page.locator("button").click();
  await page.waitForURL("**/api/earlyaccess");
  await expectFailure(["", "", "", ""]);
  expect(await database.query("SELECT email FROM earlyaccess")).toEqual([]);
});
