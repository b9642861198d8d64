// The layout: widths, target sizes, links within the page, shifts, and the visitor's settings for motion, contrast and print.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { animationsFinished, deferredLayoutFinished, openPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";

let database: TestDatabase;
let site: Site;
let closedSite: Site;

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl };
  [site, closedSite] = await Promise.all([
    startSite({ env: { ...env, WAITLIST_CLOSES: "9999-12-31T18:00Z" } }),
    startSite({ env: { ...env, WAITLIST: "closed", CONTACT_EMAIL: "privacy@perennial.example" } }),
  ]);
});

afterAll(async () => {
  await site.stop();
  await closedSite.stop();
  await database.drop();
});

/** Opens the address and calls the function at three widths. 640 px and 320 px are 1280 px at 200 % and 400 % zoom. */
async function atEachWidth(url: string, check: (page: Page, width: number) => Promise<unknown>) {
  const page = await openPage();
  await page.goto(url);
  await deferredLayoutFinished(page);
  for (const width of [320, 1024, 2560]) {
    await page.setViewportSize({ width, height: 800 });
    await check(page, width);
  }
}

const token = "A".repeat(22);

it.each([
  ["the landing page", () => site.url],
  ["the page after a sign-up", () => `${site.url}/?joined&undo=${token}`],
  ["the privacy page", () => `${site.url}/privacy`],
  ["the page of a link", () => `${site.url}/leave?token=${token}`],
  ["the 404 page", () => `${site.url}/nope`],
  ["the closed page", () => closedSite.url],
  ["the closed page after a sign-up", () => `${closedSite.url}/?joined&undo=${token}`],
])("%s does not overflow, and its links, buttons and inputs are at least 44 × 44 px", async (_, url) => {
  await atEachWidth(url(), async (page, width) => {
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    const small = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>("a, button, input:not([type=hidden]), summary")]
        .filter((element) => !element.matches(".skip-link, .visually-hidden *, p a")) // WCAG excepts links in a text.
        .map((element) => ({ text: element.textContent, box: element.getBoundingClientRect() }))
        .filter(({ box }) => box.height < 44 || box.width < 44)
        .map(({ text, box }) => `${text} ${box.width} × ${box.height}`),
    );
    expect(small, `at ${width} px`).toEqual([]);
  });
});

it("nothing overflows on a phone with text at twice its size", async () => {
  const page = await openPage({ viewport: { width: 360, height: 740 } });
  const devtools = await page.context().newCDPSession(page);
  const setFontSize = (standard: number) => devtools.send("Page.setFontSizes", { fontSizes: { standard } });
  await setFontSize(32);
  await page.goto(site.url);
  await deferredLayoutFinished(page);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe("32px");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  await setFontSize(16);
});

it.each([
  ["Get Early Access", () => site.url],
  ["List closed", () => closedSite.url],
])("the navigation bar shows the product's name and the button %s", async (button, url) => {
  await atEachWidth(url(), async (page, width) => {
    const bar = page.getByRole("navigation");
    const name = await bar.getByText("Perennial").evaluate((logo) => {
      const text = document.createRange();
      text.selectNodeContents(logo.lastChild as Text);
      return text.getBoundingClientRect().width;
    });
    expect(name).toBeGreaterThan(60);
    const box = await bar.getByRole("link", { name: button }).boundingBox();
    expect(box && box.x + box.width).toBeLessThanOrEqual(width);
  });
});

it.each([
  [390, 844],
  [1440, 900],
])(
  "links lead to headings directly below the navigation bar, and to the form, at %d × %d px",
  async (width, height) => {
    const page = await openPage({ viewport: { width, height } });
    await page.goto(site.url);
    for (const name of ["Features", "Pricing"]) {
      await page.evaluate(() => scrollTo(0, 0));
      await page.getByRole("link", { name, exact: true }).click();
      const gap = await page.evaluate(() => {
        const text = document.createRange();
        text.selectNodeContents(document.querySelector(":target") as HTMLElement);
        return (
          text.getBoundingClientRect().top - (document.querySelector("header")?.getBoundingClientRect().bottom ?? 0)
        );
      });
      expect(gap).toBeGreaterThanOrEqual(8);
      expect(gap).toBeLessThanOrEqual(48);
    }
    await page.getByRole("navigation").getByRole("link", { name: "Get Early Access" }).click();
    const [top, bottom] = await page
      .locator(".form-card")
      .evaluate((card) => [card.getBoundingClientRect().top, card.getBoundingClientRect().bottom]);
    expect(top).toBeGreaterThan(0);
    expect(width < 1024 ? top : bottom).toBeLessThan(height); // A phone is too small for the whole form.
  },
);

it("a phone has 56 to 72 px between two sections, and at most seven and a half screens", async () => {
  const page = await openPage({ viewport: { width: 390, height: 844 } });
  await page.goto(site.url);
  await settled(page);
  const boundaries = [
    [".email", "#steps-heading"],
    [".steps ol", "#features"],
    [".feature-grid", ".promise p"],
    [".promise p", "#pricing"],
    [".all-plans", "#questions-heading"],
    [".questions details:last-child", "#early-access-heading"],
  ];
  const gaps = await page.evaluate(
    (pairs) =>
      pairs.map((pair) => {
        const [above, below] = pair.map((selector) => document.querySelector(selector)?.getBoundingClientRect());
        return (below?.top ?? 0) - (above?.bottom ?? 0);
      }),
    boundaries,
  );
  expect(gaps.filter((gap) => gap < 56 || gap > 72)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollHeight / innerHeight)).toBeLessThanOrEqual(7.5);
});

it("the Back button and a reload return to the same position", async () => {
  const page = await openPage({ viewport: { width: 1280, height: 740 } });
  await page.goto(site.url);
  await deferredLayoutFinished(page);
  await page.evaluate(() => scrollTo(0, 1500));
  await page.getByRole("navigation").getByRole("link", { name: "Pricing" }).click();
  await page.waitForURL(/#pricing$/);
  await page.goBack();
  expect(await page.evaluate(() => scrollY)).toBe(1500);
  await page.reload();
  await settled(page);
  expect(await page.evaluate(() => scrollY)).toBe(1500);
});

async function recordShifts(page: Page) {
  await page.addInitScript(() => {
    const observer = new PerformanceObserver((list) => keep(list.getEntries()));
    const shifts: number[] = [];
    const keep = (entries: PerformanceEntryList) =>
      void shifts.push(...entries.map((entry) => (entry as unknown as { value: number }).value));
    observer.observe({ type: "layout-shift", buffered: true });
    Object.assign(window, { takeShifts: () => (keep(observer.takeRecords()), shifts.splice(0)) });
  });
}

/** Returns the shifts since the last call, also those that the browser has not yet reported. */
const takeShifts = (page: Page) => page.evaluate(() => (window as unknown as { takeShifts(): number[] }).takeShifts());

it("nothing shifts while the page loads and its animations run", async () => {
  const page = await openPage({ viewport: { width: 360, height: 740 }, reducedMotion: "no-preference" });
  await recordShifts(page);
  // The brand font may arrive after the first paint and move words within a line; the tests of a late font limit that.
  await page.route("**/*.woff2", (route) => route.abort());
  await page.goto(site.url);
  await page.locator("#early-access").scrollIntoViewIfNeeded();
  await page.waitForLoadState("networkidle");
  await animationsFinished(page);
  expect(await takeShifts(page)).toEqual([]);
});

/** Waits two frames, the first of which starts animations, and until these have ended. */
async function settled(page: Page) {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(undefined)))),
  );
  await animationsFinished(page);
}

/** Regular and bold fonts with the widths of Arial and Roboto, instead of those that the machine has or lacks. */
const fallbacks = {
  Arial: [
    import.meta.resolve("@fontsource/arimo/files/arimo-latin-400-normal.woff2"),
    import.meta.resolve("@fontsource/arimo/files/arimo-latin-700-normal.woff2"),
  ],
  Roboto: [
    import.meta.resolve("@fontsource/roboto/files/roboto-latin-400-normal.woff2"),
    import.meta.resolve("@fontsource/roboto/files/roboto-latin-700-normal.woff2"),
  ],
};

async function withFallbackFont(html: string, name: keyof typeof fallbacks): Promise<string> {
  const [regular, bold] = await Promise.all(
    fallbacks[name].map(async (file) => {
      const font = await readFile(fileURLToPath(file), "base64");
      return `url(data:font/woff2;base64,${font})`;
    }),
  );
  return html.replaceAll(/local\("?([^")]+)"?\)/g, (_, font: string) => {
    if (font === name) return regular as string;
    return font === `${name} Bold` ? (bold as string) : 'local("no installed font")';
  });
}

it.each([
  ["Arial", 1280],
  ["Roboto", 360],
] as const)("a late font that replaces %s moves no line and no block at %d px", async (fallback, width) => {
  // The embedded font and the changed stylesheet violate the site's policy.
  const page = await openPage({ viewport: { width, height: 800 }, reducedMotion: "reduce", bypassCSP: true });
  await recordShifts(page);
  await page.route(site.url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: await withFallbackFont(await response.text(), fallback) });
  });
  let sendFont = () => {};
  const late = new Promise<void>((resolve) => (sendFont = resolve));
  await page.route("**/*.woff2", async (route) => {
    await late;
    await route.continue();
  });
  await page.goto(site.url, { waitUntil: "commit" });
  await page.waitForFunction(
    (name) =>
      [...document.fonts].filter(({ family, status }) => family.includes(name) && status === "loaded").length === 2,
    fallback,
  );
  await settled(page);
  await takeShifts(page);
  sendFont();
  await page.waitForFunction(() =>
    [...document.fonts].some((font) => font.family === "Familjen" && font.status === "loaded"),
  );
  await settled(page);
  // A word within a line moves by a few pixels, which counts 0.001 at most; a line that breaks elsewhere counts 0.01.
  const shift = (await takeShifts(page)).reduce((sum, value) => sum + value, 0);
  expect(shift).toBeLessThan(0.002);
});

it("no animation runs, nothing is hidden and no link scrolls smoothly if the visitor prefers reduced motion", async () => {
  const page = await openPage({ reducedMotion: "reduce" });
  await page.goto(site.url);
  const running = await page.evaluate(() =>
    document
      .getAnimations()
      .map((animation) => (animation as CSSAnimation).animationName)
      .filter((name) => name !== "deferred-layout"),
  );
  expect(running).toEqual([]);
  const transparent = await page
    .locator("main :not(input)")
    .evaluateAll((all) => all.filter((element) => getComputedStyle(element).opacity === "0").length);
  expect(transparent).toBe(0);
  const growing = await page
    .locator(".stem, .lane, .vine svg, .step-marker, .composer .seed")
    .evaluateAll(
      (all) =>
        all
          .flatMap((part) => ["::before", "::after", null].map((pseudo) => getComputedStyle(part, pseudo)))
          .filter(({ transform, clipPath }) => transform !== "none" || clipPath !== "none").length,
    );
  expect(growing).toBe(0);
  const scrollBehavior = () => page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior);
  expect(await scrollBehavior()).toBe("auto");
  await page.emulateMedia({ reducedMotion: "no-preference" });
  expect(await scrollBehavior()).toBe("smooth");
});

it("forced colors draw borders around buttons and fields", async () => {
  const page = await openPage({ forcedColors: "active" });
  await page.goto(site.url);
  const borders = await page
    .locator(".button, input:not([type=hidden]), .form-card")
    .evaluateAll((all) => all.map((element) => getComputedStyle(element).borderTopWidth));
  expect(borders.filter((border) => border === "0px")).toEqual([]);
});

it("a printed page shows the text without controls and decoration", async () => {
  const page = await openPage();
  await page.goto(site.url);
  await page.emulateMedia({ media: "print" });
  expect(await page.locator("header").evaluate((bar) => getComputedStyle(bar).position)).toBe("static");
  expect(await page.locator("header").evaluate((bar) => getComputedStyle(bar).borderBottomWidth)).toBe("0px");
  for (const screenOnly of [".navigation-link", ".button", "form"]) {
    expect(await page.locator(screenOnly).first().isVisible()).toBe(false);
  }
  expect(await page.getByText("Starter Plan").isVisible()).toBe(true);
});
