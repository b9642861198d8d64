// The built pages in a browser: requests, console messages, cookies, the 404 page and the error message of a broken form.
import { afterAll, beforeAll, expect, it } from "vitest";
import { breakSending, hydrated, hydrateForm, isViolation, openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";

let database: TestDatabase;
let site: Site;

beforeAll(async () => {
  database = await createTestDatabase();
  site = await startSite({ env: { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl } });
});

afterAll(async () => {
  await site.stop();
  await database.drop();
});

/** Returns the paths of the GET requests, without the hashes of assets and the icon, which not every browser requests. */
const fetched = (page: WatchedPage) =>
  page.sentRequests
    .filter((request) => request.startsWith("GET ") && !request.includes("/favicon"))
    .map((request) => request.replace(`GET ${site.url}`, "").replace(/-[\w-]{8}\./, "."));

it("the built landing page hydrates without console messages, requests to other hosts and cookies, near its form", async () => {
  const page = await openPage();
  await page.goto(site.url);
  await page.waitForLoadState("networkidle");
  expect(fetched(page).toSorted()).toEqual(["/", "/assets/familjen-grotesk.woff2", "/assets/index.js"]);
  await hydrateForm(page);
  await page.getByLabel("Name").focus();
  await page.locator("[aria-label^=Notifications]").waitFor({ state: "attached" });
  await page.waitForLoadState("networkidle");
  expect(page.messages).toEqual([]);
  expect(page.sentRequests.filter((request) => !request.includes(site.url))).toEqual([]);
  expect(await page.context().cookies()).toEqual([]);
});

it("Trusted Types forbid to turn text into markup", async () => {
  const page = await openPage();
  await page.goto(site.url);
  const insert = () => page.evaluate(() => (document.body.innerHTML = "<img src=x>"));
  await expect(insert()).rejects.toThrow("TrustedHTML");
  expect(page.messages.filter(isViolation)).not.toEqual([]);
});

it("the 404 page shows its text, links to the landing page, logs the unknown path and loads no React", async () => {
  const page = await openPage();
  const response = await page.goto(`${site.url}/no/such/page`);
  expect(response?.status()).toBe(404);
  await page.waitForLoadState("networkidle");
  expect(await page.locator("h1").textContent()).toBe("404");
  expect(await page.locator("main").textContent()).toContain("Oops! Page not found");
  expect(page.messages.filter((text) => !text.includes("Failed to load resource"))).toEqual([
    "warning: 404: there is no page at /no/such/page",
  ]);
  expect(fetched(page)).not.toContain("/assets/hydrate.js");
  await page.getByRole("link", { name: "Return to Home" }).click();
  expect(page.url()).toBe(`${site.url}/`);
});

it("an error message is shown in place of the form when a component throws in the browser", async () => {
  const page = await openPage();
  await breakSending(page);
  await page.goto(`${site.url}/#early-access`);
  await hydrated(page);
  for (const label of ["Name", "Email", "Company"]) await page.getByLabel(label).fill("a@b.co");
  await page.locator("form button").click();
  await page.getByRole("heading", { name: "Unexpected Application Error!" }).waitFor();
  expect(await page.locator("body").textContent()).not.toContain("boom");
  expect(await page.locator("form").count()).toBe(0);
  await page.getByRole("heading", { level: 1 }).waitFor(); // The rest of the page stays.
  expect(page.messages.filter(isViolation)).toEqual([]);
});
