// The form in a browser without JavaScript.
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { openPage, sendFormTo, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";
import { openWire, type Wire } from "../support/tcp-proxy.ts";

let database: TestDatabase;
let wire: Wire;
let site: Site;
let closedSite: Site;
let page: WatchedPage;

beforeAll(async () => {
  database = await createTestDatabase();
  wire = await openWire(database.webUrl);
  const env = { DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: "1000" };
  [site, closedSite] = await Promise.all([
    startSite({ env: { ...env, DATABASE_URL: wire.url(database.webUrl) } }),
    startSite({ env: { ...env, DATABASE_URL: database.webUrl, WAITLIST: "closed" } }),
  ]);
});

afterAll(async () => {
  await site.stop();
  await closedSite.stop();
  await wire.cut();
  await database.drop();
});

beforeEach(async () => {
  await database.query("TRUNCATE earlyaccess");
  page = await openPage({ javaScriptEnabled: false });
});

const typed = ["Ada", "ada@example.com", "Engines", "Engineer"];
const invalid = ["Ada", "ada@localhost", "Engines", ""];
const mistyped = ["Ada", "ada@gmial.com", "Engines", "Engineer"];
const inputs = () => page.locator("form .field input");
const names = ["name", "email", "company", "job_title"];
const values = () => Promise.all(names.map((name) => page.locator(`form [name=${name}]`).inputValue()));
const emails = async () => (await database.query("SELECT email FROM earlyaccess")).map(({ email }) => email);
const focused = () => page.locator(":focus");

async function submit(texts = typed) {
  for (const [i, text] of texts.entries()) await inputs().nth(i).fill(text);
  const loaded = page.waitForEvent("load");
  await page.getByRole("button", { name: "Get Early Access" }).click();
  await loaded;
}

async function expectFailure(expected = typed) {
  expect(await page.title()).toMatch(/^Error: /);
  expect(await focused().textContent()).toContain("Something went wrong. Please try again.");
  expect(await values()).toEqual(expected);
}

it("a plain form joins, and shows the success message and the way back to the form for a colleague", async () => {
  await page.goto(site.url);
  await submit();
  expect(page.url()).toMatch(/\/\?joined&undo=[\w-]{22}#early-access$/);
  expect(await focused().getAttribute("id")).toBe("early-access");
  const section = page.locator("#early-access");
  expect(await section.textContent()).toContain("Welcome to the future! 🚀");
  expect(await section.textContent()).toContain(
    "You're now on the early access list. We'll notify you when we launch!",
  );
  expect(await inputs().count()).toBe(0);
  expect(await emails()).toEqual(["ada@example.com"]);
  await page.getByRole("link", { name: "Add a colleague" }).click();
  expect(page.url()).toBe(`${site.url}/#early-access`);
  expect(await values()).toEqual(["", "", "", ""]);
  expect(page.messages).toEqual([]);
});

it("a plain sign-up can be undone, also after a reload", async () => {
  await page.goto(site.url);
  await submit();
  await page.reload();
  await page.getByRole("button", { name: "Wrong address? Undo" }).click();
  expect(page.url()).toBe(`${site.url}/?undone#early-access`);
  await page.getByText("Your sign-up has been undone").waitFor();
  expect(await emails()).toEqual([]);
});

it("422: the error summary is visible, has focus and links to the invalid field; the next attempt keeps the campaign", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${site.url}/?utm_source=news&utm_term=a%22b`);
  await submit(invalid);
  await expectFailure(invalid);
  const summary = await focused().boundingBox();
  expect(summary?.y).toBeGreaterThanOrEqual((await page.locator("header").boundingBox())?.height ?? Infinity);
  expect((summary?.y ?? 0) + (summary?.height ?? 0)).toBeLessThanOrEqual(844);
  await page.getByRole("link", { name: "Enter an email address like name@example.com." }).click();
  expect(await focused().getAttribute("name")).toBe("email");
  await submit();
  expect(await database.query("SELECT email, utm_source, utm_term FROM earlyaccess")).toEqual([
    { email: "ada@example.com", utm_source: "news", utm_term: 'a"b' },
  ]);
});

it("a mistyped address leads to a question that has focus, keeps the values, and is corrected by Enter in a field", async () => {
  await page.goto(site.url);
  await submit(mistyped);
  expect(await page.title()).toMatch(/^Check your email address – /);
  expect(await focused().textContent()).toBe("Did you mean ada@gmail.com?Use itKeep mine");
  expect([await values(), await emails()]).toEqual([mistyped, []]);
  await page.getByLabel("Company").press("Enter");
  await page.waitForURL("**/?joined*");
  expect(await emails()).toEqual(["ada@gmail.com"]);
});

it("a mistyped address is stored as it is after the answer Keep mine", async () => {
  await page.goto(site.url);
  await submit(mistyped);
  await page.getByRole("button", { name: "Keep mine" }).click();
  expect(await emails()).toEqual(["ada@gmial.com"]);
});

it("503: the same plain form can be sent again when the database is back", async () => {
  await page.goto(site.url);
  await wire.cut();
  await submit();
  await expectFailure();
  await wire.mend();
  await page.locator("form button").click();
  expect(page.url()).toContain("?joined");
});

it("410: a plain form that was loaded before the list closed says so, and the Back button restores the values", async () => {
  await sendFormTo(closedSite.url, page);
  await page.goto(site.url);
  await submit();
  expect(await page.title()).toMatch(/^Error: /);
  expect(await focused().textContent()).toContain("The early access list is closed. Your sign-up was not stored.");
  expect(await inputs().count()).toBe(0);
  await page.goBack();
  expect([await values(), await emails()]).toEqual([typed, []]);
});

it("403: a form on another site is refused, and its values are not shown", async () => {
  const evil = `<form method="post" action="${site.url}/api/earlyaccess">
    <input name="name" value="Ada"><input name="email" value="ada@example.com">
    <input name="company" value="Engines"><input name="job_title" value="Engineer"><button>x</button></form>`;
  await page.route("http://evil.example/", (route) => route.fulfill({ contentType: "text/html", body: evil }));
  await page.goto("http://evil.example/");
  await page.locator("button").click();
  await page.waitForURL("**/api/earlyaccess");
  await expectFailure(["", "", "", ""]);
  expect(await emails()).toEqual([]);
});
