// The page at every width and for every preference: nothing overflows, shifts or is too small to touch.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchBrowser, openPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";

let database: TestDatabase;
let site: Site;
let browser: Browser;

beforeAll(async () => {
  database = await createTestDatabase();
  site = await startSite({ env: { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl } });
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  await site.stop();
  await database.drop();
});

// 640 and 320 are what 200 % and 400 % zoom leave of 1280.
describe.each([320, 360, 480, 640, 768, 1024, 1280, 1920, 2560])("at %d px", (width) => {
  it("nothing overflows, and what is touched is at least 44 px", async () => {
    const page = await openPage(browser, { viewport: { width, height: 800 } });
    for (const path of ["/", "/?joined", "/nope"]) {
      await page.goto(site.url + path);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      const small = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>("a, button, input, summary")]
          .filter((element) => !element.matches(".skip-link, .unseen *"))
          .map((element) => ({ text: element.textContent, box: element.getBoundingClientRect() }))
          .filter(({ box }) => box.height < 44 || box.width < 44)
          .map(({ text, box }) => `${text} ${box.width} × ${box.height}`),
      );
      expect(small).toEqual([]);
    }
    await page.context().close();
  });

  it("the bar shows the Get Early Access button", async () => {
    const page = await openPage(browser, { viewport: { width, height: 800 } });
    await page.goto(site.url);
    const link = page.getByRole("navigation").getByRole("link", { name: "Get Early Access" });
    const box = await link.boundingBox();
    expect(box && box.x + box.width).toBeLessThanOrEqual(width);
    await link.click();
    expect(page.url()).toBe(`${site.url}/#early-access`);
    await page.context().close();
  });
});

it("on a phone with text of twice the size nothing overflows either", async () => {
  const large = await launchBrowser("--blink-settings=defaultFontSize=32");
  const page = await openPage(large, { viewport: { width: 360, height: 740 } });
  await page.goto(site.url);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe("32px");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await large.close();
});

it("text asks for the brand font, and then for the fallback of its measure", async () => {
  const page = await openPage(browser);
  await page.goto(site.url);
  const [families, declared] = await page.evaluate(() => [
    getComputedStyle(document.body).fontFamily.replaceAll('"', ""),
    [...new Set([...document.fonts].map(({ family }) => family))].join(", "),
  ]);
  expect(families).toBe(`${declared}, sans-serif`);
  await page.context().close();
});

it.each(["no-preference", "reduce"] as const)(
  "nothing shifts while it loads and moves (motion: %s)",
  async (motion) => {
    const page = await openPage(browser, { viewport: { width: 360, height: 740 }, reducedMotion: motion });
    await page.addInitScript(() => {
      const shifts: number[] = [];
      (window as unknown as { shifts: number[] }).shifts = shifts;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value);
      }).observe({ type: "layout-shift", buffered: true });
    });
    await page.goto(site.url);
    await page.locator("#early-access").scrollIntoViewIfNeeded();
    await page.waitForLoadState("networkidle");
    await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
    expect(await page.evaluate(() => (window as unknown as { shifts: number[] }).shifts)).toEqual([]);
    await page.context().close();
  },
);

it("moves nothing for who asked for less motion, and everything is in sight", async () => {
  const page = await openPage(browser, { reducedMotion: "reduce" });
  await page.goto(site.url);
  const moving = await page.evaluate(() =>
    document
      .getAnimations()
      .map((animation) => (animation as CSSAnimation).animationName)
      .filter((name) => name !== "later"),
  );
  expect(moving).toEqual([]);
  const invisible = await page.evaluate(
    () =>
      [...document.querySelectorAll(".demo *")].filter((element) => getComputedStyle(element).opacity !== "1").length,
  );
  expect(invisible).toBe(0);
  await page.context().close();
});

describe("what is below the first screen", () => {
  const layouts = (page: Page, moment: number | "end") =>
    page.locator(".section, .early-access, .footer").evaluateAll(
      (all, at) =>
        all.map((section) => {
          const [later] = section.getAnimations();
          if (at === "end") later?.finish();
          else if (later) later.currentTime = at;
          return getComputedStyle(section).contentVisibility;
        }),
      moment,
    );

  /** Two frames: one that begins animations, and one that shows it. */
  async function settled(page: Page) {
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(undefined)))),
    );
    await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
  }

  it("is laid out after it", async () => {
    const page = await openPage(browser, { viewport: { width: 360, height: 740 } });
    // As early as a script can be: a moment later there would be nothing left to see.
    await page.addInitScript(() => {
      document.addEventListener("DOMContentLoaded", () => {
        for (const animation of document.getAnimations()) animation.pause();
      });
    });
    await page.goto(site.url);
    expect(new Set(await layouts(page, 0))).toEqual(new Set(["auto"]));
    expect(new Set(await layouts(page, "end"))).toEqual(new Set(["visible"]));
    await page.context().close();
  });

  it("is there at once for a jump, and stays when somebody goes back", async () => {
    const page = await openPage(browser, { viewport: { width: 1280, height: 740 }, reducedMotion: "reduce" });
    await page.goto(`${site.url}/#pricing`);
    expect(new Set(await layouts(page, "end"))).toEqual(new Set(["visible"]));
    const top = () => page.locator("#pricing").evaluate((section) => Math.round(section.getBoundingClientRect().top));
    expect(await top()).toBe(80);

    await page.goto(`${site.url}/?from=start`);
    await settled(page);
    await page.evaluate(() => scrollTo(0, 1500));
    await page.getByRole("link", { name: "Pricing" }).click();
    await page.waitForURL(/#pricing$/);
    expect(await top()).toBe(80);
    await page.goBack();
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    await settled(page);
    expect(await page.evaluate(() => scrollY)).toBe(1500);
    await page.reload();
    await settled(page);
    expect(await page.evaluate(() => scrollY)).toBe(1500);
    await page.context().close();
  });
});

it("keeps buttons and fields recognisable in forced colours", async () => {
  const page = await openPage(browser, { forcedColors: "active" });
  await page.goto(site.url);
  const borders = await page
    .locator(".button, input, .form-card")
    .evaluateAll((all) => all.map((element) => getComputedStyle(element).borderTopWidth));
  expect(borders.filter((border) => border === "0px")).toEqual([]);
  await page.context().close();
});

it("prints its words without what is for the screen alone", async () => {
  const page = await openPage(browser);
  await page.goto(site.url);
  await page.emulateMedia({ media: "print" });
  expect(await page.locator("header").evaluate((bar) => getComputedStyle(bar).position)).toBe("static");
  for (const screenOnly of [".bar-link", ".button", ".demo", "form"]) {
    expect(await page.locator(screenOnly).first().isVisible()).toBe(false);
  }
  expect(await page.getByText("Starter Plan").isVisible()).toBe(true);
  await page.context().close();
});
