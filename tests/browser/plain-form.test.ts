// The form in a browser without JavaScript.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";
import { openWire, type Wire } from "../support/tcp-proxy.ts";

let database: TestDatabase;
let wire: Wire;
let site: Site;
let page: WatchedPage;

beforeAll(async () => {
  database = await createTestDatabase();
  wire = await openWire(database.webUrl);
  site = await start("1000");
});

afterAll(async () => {
  await site.stop();
  await wire.cut();
  await database.drop();
});

const start = (limit: string) =>
  startSite({
    env: { DATABASE_URL: wire.url(database.webUrl), DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: limit },
  });

beforeEach(async () => {
  await database.query("TRUNCATE earlyaccess");
  page = await openPage({ javaScriptEnabled: false });
  await page.goto(site.url);
});

const typed = ["Ada", "ada@example.com", "Engines", "Engineer"];
const invalid = ["Ada", "ada@localhost", "Engines", ""];
const inputs = () => page.locator("form .field input");

async function submit(values = typed) {
  for (const [i, value] of values.entries()) await inputs().nth(i).fill(value);
  await page.getByRole("button", { name: "Get Early Access" }).click();
}

const values = () => inputs().evaluateAll((all) => (all as HTMLInputElement[]).map((input) => input.value));

async function expectFailure(expected = typed) {
  expect(await page.title()).toMatch(/^Error: /);
  const summary = page.locator(":focus");
  expect(await summary.textContent()).toContain("Something went wrong. Please try again.");
  expect(await values()).toEqual(expected);
}

it("joins, and shows the success message", async () => {
  await submit();
  expect(page.url()).toMatch(/\/\?joined&undo=[\w-]{22}#early-access$/);
  expect(await page.locator(":focus").getAttribute("id")).toBe("early-access");
  const section = page.locator("#early-access");
  expect(await section.textContent()).toContain("Welcome to the future! 🚀");
  expect(await section.textContent()).toContain(
    "You're now on the early access list. We'll notify you when we launch!",
  );
  expect(await inputs().count()).toBe(0);
  await page.reload();
  await page.getByRole("heading", { name: "Welcome to the future! 🚀" }).waitFor();
  expect(await database.query("SELECT email FROM earlyaccess")).toEqual([{ email: "ada@example.com" }]);
  expect(page.messages).toEqual([]);
});

it.each([false, true])("can be undone, also after a reload (JavaScript: %s)", async (javaScriptEnabled) => {
  await submit();
  const address = page.url();
  page = await openPage({ javaScriptEnabled });
  await page.goto(address);
  await page.getByRole("button", { name: "Wrong address? Undo" }).click();
  await page.waitForURL(`${site.url}/?undone#early-access`);
  await page.getByText("Your sign-up has been undone").waitFor();
  expect(await database.query("SELECT FROM earlyaccess")).toEqual([]);
  expect(await values()).toEqual(["", "", "", ""]);
  expect(page.messages).toEqual([]);
});

it("leads back to the empty form for a colleague", async () => {
  await submit();
  await page.getByRole("link", { name: "Add a colleague" }).click();
  expect(page.url()).toBe(`${site.url}/#early-access`);
  expect(await values()).toEqual(["", "", "", ""]);
});

describe.each([
  ["phone", { width: 390, height: 844 }],
  ["desktop", { width: 1440, height: 900 }],
])("on a %s, the error summary is visible and has focus", (_, viewport) => {
  const summaryBox = () => page.locator(".form-failure").evaluate((summary) => summary.getBoundingClientRect());

  /** Expects that the summary has focus and, when the page has stopped scrolling, is below the navigation bar. */
  async function expectVisibleSummary() {
    expect(await page.locator(":focus").getAttribute("class")).toBe("form-failure");
    const tops: number[] = [];
    const stopped = () => tops.length >= 10 && new Set(tops.slice(-10)).size === 1;
    while (!stopped()) {
      tops.push((await summaryBox()).top);
      await page.waitForTimeout(50);
    }
    const { top, bottom } = await summaryBox();
    expect(top).toBeGreaterThanOrEqual(64);
    expect(bottom).toBeLessThanOrEqual(viewport.height);
  }

  it.each([
    ["reduce", true],
    ["no-preference", true],
    ["no-preference", false],
  ] as const)("after a form post (motion: %s, JavaScript: %s)", async (reducedMotion, javaScriptEnabled) => {
    page = await openPage({ viewport, reducedMotion, javaScriptEnabled });
    await page.route("**/assets/*.js", (route) => route.abort());
    await page.goto(site.url);
    await submit(invalid);
    await page.waitForURL("**/api/earlyaccess*");
    await expectVisibleSummary();
  });

  it("after a visit of the form's address", async () => {
    page = await openPage({ viewport });
    await page.goto(`${site.url}/api/earlyaccess`);
    await expectVisibleSummary();
  });
});

it("422: the error summary has focus and links to the invalid field", async () => {
  await submit(invalid);
  await expectFailure(invalid);
  await page.getByRole("link", { name: "Enter an email address like name@example.com." }).click();
  expect(await page.locator(":focus").getAttribute("name")).toBe("email");
  await submit();
  expect(page.url()).toContain("?joined");
});

describe("a mistyped address", () => {
  const mistyped = ["Ada", "ada@gmial.com", "Engines", "Engineer"];
  const emails = async () => (await database.query("SELECT email FROM earlyaccess")).map(({ email }) => email);

  beforeEach(() => submit(mistyped));

  it("leads to a question that has focus, and the form keeps its values", async () => {
    expect(await page.title()).toMatch(/^Check your email address – /);
    expect(await page.locator(":focus").textContent()).toBe("Did you mean ada@gmail.com?Use itKeep mine");
    expect(await values()).toEqual(mistyped);
    expect(await emails()).toEqual([]);
  });

  it.each([
    ["Use it", "ada@gmail.com"],
    ["Keep mine", "ada@gmial.com"],
    ["Get Early Access", "ada@gmial.com"],
  ])("is stored after the answer %s as %s", async (name, email) => {
    await page.getByRole("button", { name }).click();
    expect(page.url()).toMatch(/\/\?joined&undo=[\w-]{22}#early-access$/);
    expect(await emails()).toEqual([email]);
  });

  it("is corrected by Enter in a field", async () => {
    await page.getByLabel("Company").press("Enter");
    await page.waitForURL("**/?joined*");
    expect(await emails()).toEqual(["ada@gmail.com"]);
  });

  it("can be corrected in the field, too", async () => {
    await page.getByLabel("Email").fill("ada@example.com");
    await page.getByLabel("Email").press("Enter");
    await page.waitForURL("**/?joined*");
    expect(await emails()).toEqual(["ada@example.com"]);
  });
});

it("stores the campaign from the URL of the page, also after a failed attempt", async () => {
  await page.goto(`${site.url}/?utm_source=news&utm_term=a%22b`);
  await submit(invalid);
  await submit();
  expect(page.url()).toContain("?joined");
  expect(await database.query("SELECT utm_source, utm_term FROM earlyaccess")).toEqual([
    { utm_source: "news", utm_term: 'a"b' },
  ]);
});

it("503: the same form can be sent again when the database is back", async () => {
  await wire.cut();
  await submit();
  await expectFailure();
  await wire.mend();
  await page.locator("form button").click();
  expect(page.url()).toContain("?joined");
});

it("429: the form is empty, and the Back button restores the typed values", async () => {
  const limited = await start("1");
  onTestFinished(async () => void (await limited.stop()));
  await page.goto(limited.url);
  await submit();
  await page.goto(limited.url);
  await submit();
  expect(await page.title()).toMatch(/^Error: /);
  const summary = await page.locator(":focus").textContent();
  expect(summary).toMatch(/^Error.*network\. Please try again in (?:10|[2-9]) minutes\. The Back button/);
  expect(summary).not.toContain("Something went wrong");
  expect(await values()).toEqual(["", "", "", ""]);
  await page.goBack();
  expect(await values()).toEqual(typed);
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
  expect(await database.query("SELECT email FROM earlyaccess")).toEqual([]);
});
