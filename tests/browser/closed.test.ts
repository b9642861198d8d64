// The closed list in a browser: the page, and a form that was loaded before the list closed.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hydrateForm, openPage, sendFormTo, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";

let database: TestDatabase;
let open: Site;
let closed: Site;

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
  open = await startSite({ env: { ...env, WAITLIST_CLOSES: "9999-12-31" } });
  closed = await startSite({ env: { ...env, WAITLIST: "closed" } });
});

afterAll(async () => {
  await open.stop();
  await closed.stop();
  await database.drop();
});

const message = "The early access list is closed. Your sign-up was not stored.";
const typed = ["Ada", "ada@example.com", "Engines", "Engineer"];
const inputs = (page: WatchedPage) => page.locator("form .field input");
const values = (page: WatchedPage) =>
  inputs(page).evaluateAll((all) => (all as HTMLInputElement[]).map((input) => input.value));

async function submit(page: WatchedPage) {
  for (const [i, value] of typed.entries()) await inputs(page).nth(i).fill(value);
  await page.locator("form button[type=submit]").click();
}

describe("the closed page", () => {
  it("has the message in place of the form, and loads no React", async () => {
    const page = await openPage();
    await page.goto(`${closed.url}/#early-access`);
    await page.locator("#early-access").getByRole("heading", { name: "The early access list is closed" }).waitFor();
    await page.waitForLoadState("networkidle");
    expect(await page.locator("form, input").count()).toBe(0);
    expect(page.sentRequests.filter((request) => /hydrate|toasts/.test(request))).toEqual([]);
    expect(page.messages).toEqual([]);
  });

  it("leads from every button to a part of the page below the navigation bar", async () => {
    const page = await openPage({ reducedMotion: "reduce" });
    await page.goto(closed.url);
    const buttons = page.locator("a.button");
    expect(await buttons.count()).toBe(3);
    for (const button of await buttons.all()) {
      await button.click();
      expect(await page.evaluate(() => document.querySelector(":target")?.getBoundingClientRect().top)).toBeGreaterThan(
        0,
      );
    }
  });
});

it("the open page names the closing time near the form", async () => {
  const page = await openPage();
  await page.goto(open.url);
  await hydrateForm(page);
  await page.locator("form").getByText("Open until 31 Dec 9999 (UTC).").waitFor();
  expect(page.messages).toEqual([]);
});

describe("a form that was loaded before the list closed", () => {
  it("gets a clear message, and keeps what was typed", async () => {
    const page = await openPage();
    await sendFormTo(closed.url, page);
    await page.goto(open.url);
    await hydrateForm(page);
    await submit(page);
    const toast = page.locator("[data-sonner-toast]");
    await toast.waitFor();
    expect(await toast.textContent()).toBe(`Error${message}`);
    expect(await page.locator("#early-access-failure").textContent()).toBe(message);
    expect(await page.locator(":focus").getAttribute("aria-describedby")).toBe("early-access-failure");
    expect(await values(page)).toEqual(typed);
    expect(await database.query("SELECT FROM earlyaccess")).toEqual([]);
    expect(page.messages).toContainEqual(expect.stringMatching(/^error: Joining the waitlist failed with status 410/));
  });

  it("gets the same without JavaScript, in a summary that has focus", async () => {
    const page = await openPage({ javaScriptEnabled: false });
    await sendFormTo(closed.url, page);
    await page.goto(open.url);
    await submit(page);
    await page.waitForURL("**/api/earlyaccess");
    expect(await page.title()).toMatch(/^Error: /);
    expect(await page.locator(":focus").innerText()).toBe(
      `Error\n\n${message} The Back button of your browser returns to what you typed.`,
    );
    expect(await page.locator("form").count()).toBe(0);
    await page.goBack();
    expect(await values(page)).toEqual(typed);
    expect(await database.query("SELECT FROM earlyaccess")).toEqual([]);
  });
});
