// The pages in a real browser: what they load and log, hydrated and without JavaScript, built and in development.
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectRoot } from "../../server/project-root.ts";
import { breakSending, hydrated, isViolation, launchBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";

let database: TestDatabase;
let browser: Browser;

beforeAll(async () => {
  database = await createTestDatabase();
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  await database.drop();
});

function foreign(page: WatchedPage, site: Site) {
  return page.sent.filter((request) => !request.includes(site.url));
}

describe.each(["built", "dev"] as const)("%s:", (mode) => {
  let site: Site;

  beforeAll(async () => {
    const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
    const command: [string, ...string[]] = [
      join(projectRoot, "node_modules/.bin/tsx"),
      join(projectRoot, "server/index.ts"),
      "--dev",
    ];
    site = await startSite(mode === "dev" ? { env, command } : { env });
  });

  afterAll(() => site.stop());

  it("the landing page hydrates without a word, from this host alone, and sets no cookie", async () => {
    const page = await openPage(browser);
    await page.goto(site.url);
    await page.locator("#early-access").scrollIntoViewIfNeeded();
    await hydrated(page);
    await page.getByLabel("Name").focus();
    await page.locator("[aria-label^=Notifications]").waitFor({ state: "attached" });
    await page.waitForLoadState("networkidle");
    // Vite's own chatter; the built page has none.
    expect(page.complaints.filter((text) => !/^debug: \[vite\]|React DevTools/.test(text))).toEqual([]);
    expect(foreign(page, site)).toEqual([]);
    expect(await page.context().cookies()).toEqual([]);
    await page.context().close();
  });

  it("cannot turn text into markup or script", async () => {
    const page = await openPage(browser);
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
    expect(page.complaints.filter(isViolation)).not.toEqual([]);
    await page.context().close();
  });

  it("the 404 page has its texts, leads home and logs the unknown path", async () => {
    const page = await openPage(browser);
    const response = await page.goto(`${site.url}/no/such/page`);
    expect(response?.status()).toBe(404);
    expect(await page.locator("h1").textContent()).toBe("404");
    expect(await page.locator("main").textContent()).toContain("Oops! Page not found");
    await page
      .waitForEvent("console", {
        predicate: (message) => message.text().includes("/no/such/page"),
      })
      .catch(() => undefined);
    expect(page.complaints.filter((text) => text.includes("/no/such/page"))).not.toEqual([]);
    expect(page.complaints.filter(isViolation)).toEqual([]);
    await page.getByRole("link", { name: "Return to Home" }).click();
    expect(page.url()).toBe(`${site.url}/`);
    await page.context().close();
  });
});

describe("the built page", () => {
  let site: Site;

  beforeAll(async () => {
    site = await startSite({ env: { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl } });
  });

  afterAll(() => site.stop());

  it("loads no React before the visitor comes near the form", async () => {
    const page = await openPage(browser, { viewport: { width: 1280, height: 720 } });
    await page.goto(site.url);
    await page.waitForLoadState("networkidle");
    const names = page.sent.map((request) => request.replace(/^GET http:\/\/[^/]+/, "").replace(/-[\w-]{8}\./, "."));
    const needed = names.filter((name) => !name.startsWith("/favicon")); // Not every Chromium asks for it.
    expect(needed.toSorted()).toEqual(["/", "/assets/familjen-grotesk.woff2", "/assets/index.js"]);
    await page.context().close();
  });

  it("hydrates paths that cannot be decoded, and ones that look like other pages", async () => {
    for (const path of ["/%", "/%00", "//"]) {
      const page = await openPage(browser);
      await page.goto(site.url + path);
      await hydrated(page);
      await page.waitForLoadState("networkidle");
      expect(await page.locator("h1").textContent()).toBe("404");
      const unexpected = page.complaints.filter((text) => !/^warning: 404|Failed to load resource/.test(text));
      expect(unexpected).toEqual([]);
      await page.context().close();
    }
  });

  it("shows the error page when a component throws in the browser", async () => {
    const page = await openPage(browser);
    await breakSending(page);
    await page.goto(`${site.url}/#early-access`);
    await hydrated(page);
    for (const label of ["Name", "Email", "Company"]) await page.getByLabel(label).fill("a@b.co");
    await page.locator("form button").click();
    await page.getByRole("heading", { name: "Unexpected Application Error!" }).waitFor();
    expect(await page.locator("body").textContent()).not.toContain("boom");
    expect(page.complaints.filter(isViolation)).toEqual([]);
    await page.context().close();
  });

  it("moves smoothly to its sections, and not for who asked for less motion", async () => {
    for (const [reducedMotion, behavior] of [
      ["no-preference", "smooth"],
      ["reduce", "auto"],
    ] as const) {
      const page = await openPage(browser, { reducedMotion });
      await page.goto(site.url);
      expect(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior)).toBe(behavior);
      await page.getByRole("link", { name: "Sign up for early access" }).click();
      expect(page.url()).toBe(`${site.url}/#early-access`);
      await page.waitForFunction(() => {
        const { top } = (document.getElementById("early-access") as HTMLElement).getBoundingClientRect();
        return top >= 0 && top < innerHeight;
      });
      await page.context().close();
    }
  });

  it("needs no JavaScript, and keeps its bar at the top", async () => {
    const page = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(site.url);
    await page.getByRole("navigation").getByRole("link", { name: "Pricing" }).click();
    expect(page.url()).toBe(`${site.url}/#pricing`);
    const bar = await page.locator("header").boundingBox();
    expect(bar?.y).toBe(0);
    expect(page.complaints).toEqual([]);
    expect(foreign(page, site)).toEqual([]);
    await page.context().close();
  });

  it("is as wide as a small screen", async () => {
    const page = await openPage(browser, { viewport: { width: 320, height: 640 } });
    for (const path of ["/", "/?joined", "/nope"]) {
      await page.goto(site.url + path);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    }
    await page.context().close();
  });
});
