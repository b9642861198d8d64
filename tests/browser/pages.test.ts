// The pages in a browser, built and in development: requests, console messages, navigation.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { breakSending, hydrated, hydrateForm, isViolation, openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { runSource, startSite, type Site } from "../support/site.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

/** Returns the requests to other hosts. */
function externalRequests(page: WatchedPage, site: Site) {
  return page.sentRequests.filter((request) => !request.includes(site.url));
}

describe.each(["built", "dev"] as const)("%s:", (mode) => {
  let site: Site;

  beforeAll(async () => {
    const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
    site = await startSite(mode === "dev" ? { env, command: runSource("server/index.ts", "--dev") } : { env });
  });

  afterAll(() => site.stop());

  it("the landing page hydrates without console messages, requests to other hosts and cookies", async () => {
    const page = await openPage();
    await page.goto(site.url);
    await hydrateForm(page);
    await page.getByLabel("Name").focus();
    await page.locator("[aria-label^=Notifications]").waitFor({ state: "attached" });
    await page.waitForLoadState("networkidle");
    // In development React writes a message of its own.
    expect(page.messages.filter((text) => !/React DevTools/.test(text))).toEqual([]);
    expect(externalRequests(page, site)).toEqual([]);
    expect(await page.context().cookies()).toEqual([]);
  });

  it("Trusted Types forbid to turn text into markup", async () => {
    const page = await openPage();
    await page.goto(site.url);
    const message = await page.evaluate(() => {
      try {
        document.body.innerHTML = "<img src=x>";
      } catch (error) {
        return (error as Error).message;
      }
      return "";
    });
    expect(message).toContain("TrustedHTML");
    expect(page.messages.filter(isViolation)).not.toEqual([]);
  });

  it("the 404 page shows its text, links to the landing page and logs the unknown path", async () => {
    const page = await openPage();
    const response = await page.goto(`${site.url}/no/such/page`);
    expect(response?.status()).toBe(404);
    expect(await page.locator("h1").textContent()).toBe("404");
    expect(await page.locator("main").textContent()).toContain("Oops! Page not found");
    await expect.poll(() => page.messages.join(), { timeout: 30_000 }).toContain("/no/such/page");
    expect(page.messages.filter(isViolation)).toEqual([]);
    await page.getByRole("link", { name: "Return to Home" }).click();
    expect(page.url()).toBe(`${site.url}/`);
  });
});

describe("the built page", () => {
  let site: Site;

  beforeAll(async () => {
    site = await startSite({ env: { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl } });
  });

  afterAll(() => site.stop());

  it("loads React only when the visitor comes near the form", async () => {
    const page = await openPage({ viewport: { width: 1280, height: 720 } });
    await page.goto(site.url);
    await page.waitForLoadState("networkidle");
    const names = page.sentRequests.map((request) =>
      request.replace(/^GET http:\/\/[^/]+/, "").replace(/-[\w-]{8}\./, "."),
    );
    // Not every version of Chromium requests the icon, and the report of the view loads nothing.
    const needed = names.filter((name) => !/^\/favicon|\/api\/view/.test(name));
    expect(needed.toSorted()).toEqual(["/", "/assets/familjen-grotesk.woff2", "/assets/index.js"]);
  });

  it("loads no React on the 404 page, also for paths that cannot be decoded or look like the landing page's", async () => {
    for (const path of ["/nope", "/%", "/%00", "//"]) {
      const page = await openPage();
      await page.goto(site.url + path);
      await page.waitForLoadState("networkidle");
      expect(await page.locator("h1").textContent()).toBe("404");
      expect(page.sentRequests.filter((request) => request.includes("hydrate"))).toEqual([]);
      expect(page.messages.filter((text) => !text.includes("Failed to load resource"))).toEqual([
        `warning: 404: there is no page at ${path}`,
      ]);
    }
  });

  it("shows the error message in place of the form when a component throws in the browser", async () => {
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

  it("scrolls smoothly to its sections, unless the visitor prefers reduced motion", async () => {
    for (const [reducedMotion, behavior] of [
      ["no-preference", "smooth"],
      ["reduce", "auto"],
    ] as const) {
      const page = await openPage({ reducedMotion });
      await page.goto(site.url);
      expect(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior)).toBe(behavior);
      await page.getByRole("link", { name: "Sign up for early access" }).click();
      expect(page.url()).toBe(`${site.url}/#early-access`);
      await page.waitForFunction(() => {
        const { top } = (document.getElementById("early-access") as HTMLElement).getBoundingClientRect();
        return top >= 0 && top < innerHeight;
      });
    }
  });

  it("works without JavaScript, and keeps the navigation bar at the top", async () => {
    const page = await openPage({ javaScriptEnabled: false });
    await page.goto(site.url);
    await page.getByRole("navigation").getByRole("link", { name: "Pricing" }).click();
    expect(page.url()).toBe(`${site.url}/#pricing`);
    const bar = await page.locator("header").boundingBox();
    expect(bar?.y).toBe(0);
    expect(page.messages).toEqual([]);
    expect(externalRequests(page, site)).toEqual([]);
  });
});
