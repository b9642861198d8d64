// The layout at every width and for every preference: overflow, target sizes, shifts, motion, forced colors, print.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  animationsFinished,
  deferredLayoutFinished,
  hydrateForm,
  launchBrowser,
  openPage,
} from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";

let database: TestDatabase;
let site: Site;
let closedSite: Site;

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: "1000" };
  site = await startSite({ env: { ...env, WAITLIST_CLOSES: "9999-12-31T18:00Z" } });
  closedSite = await startSite({ env: { ...env, WAITLIST: "closed", CONTACT_EMAIL: "privacy@perennial.example" } });
});

afterAll(async () => {
  await site.stop();
  await closedSite.stop();
  await database.drop();
});

// 640 px and 320 px are 1280 px at 200 % and 400 % zoom.
describe.each([320, 768, 1280, 2560])("at %d px", (width) => {
  it("nothing overflows, and links, buttons and inputs are at least 44 × 44 px", async () => {
    const page = await openPage({ viewport: { width, height: 800 } });
    const token = "A".repeat(22);
    const open = ["/", `/?joined&undo=${token}`, "/?undone", "/privacy", `/leave?token=${token}`, "/nope"];
    const closed = ["/", `/?joined&undo=${token}`, "/?undone"];
    for (const url of [...open.map((path) => site.url + path), ...closed.map((path) => closedSite.url + path)]) {
      await page.goto(url);
      await deferredLayoutFinished(page);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      const small = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>("a, button, input:not([type=hidden]), summary")]
          .filter((element) => !element.matches(".skip-link, .visually-hidden *, p a")) // WCAG excepts links in a text.
          .map((element) => ({ text: element.textContent, box: element.getBoundingClientRect() }))
          .filter(({ box }) => box.height < 44 || box.width < 44)
          .map(({ text, box }) => `${text} ${box.width} × ${box.height}`),
      );
      expect(small).toEqual([]);
    }
  });

  it.each(["Get Early Access", "List closed"])(
    "the navigation bar shows the product's name and the button %s",
    async (button) => {
      const page = await openPage({ viewport: { width, height: 800 } });
      const { url } = button === "List closed" ? closedSite : site;
      await page.goto(url);
      const bar = page.getByRole("navigation");
      const name = await bar.getByText("Perennial").evaluate((logo) => {
        const text = document.createRange();
        text.selectNodeContents(logo.lastChild as Text);
        return text.getBoundingClientRect().width;
      });
      expect(name).toBeGreaterThan(60);
      const link = bar.getByRole("link", { name: button });
      const box = await link.boundingBox();
      expect(box && box.x + box.width).toBeLessThanOrEqual(width);
      await link.click();
      expect(page.url()).toBe(`${url}/#early-access`);
    },
  );
});

it("nothing overflows on a phone with text at twice its size", async () => {
  const large = await launchBrowser("--blink-settings=defaultFontSize=32");
  onTestFinished(() => large.close());
  const page = await large.newPage({ viewport: { width: 360, height: 740 } });
  await page.goto(site.url);
  await deferredLayoutFinished(page);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe("32px");
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});

it.each([390, 1440])(
  "the items of the navigation bar do not overlap if a translation makes their words longer, at %d px",
  async (width) => {
    const page = await openPage({ viewport: { width, height: 800 } });
    await page.goto(site.url);
    const overlaps = await page.getByRole("navigation").evaluate((bar) => {
      const items = [...bar.children];
      const words = document.createTreeWalker(bar, NodeFilter.SHOW_TEXT);
      while (words.nextNode())
        words.currentNode.textContent = words.currentNode.textContent?.replaceAll(/\w+/g, "$&ungen") ?? "";
      const boxes = items.map((item) => {
        const text = document.createRange();
        text.selectNodeContents(item);
        return text.getBoundingClientRect();
      });
      return boxes.filter((a, i) =>
        boxes.slice(i + 1).some((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom),
      ).length;
    });
    expect(overlaps).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  },
);

it("text has at most nine sizes, and only the slogan is as large as the headline", async () => {
  const page = await openPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(site.url);
  await settled(page);
  const sizes = await page
    .locator("body :not(script, .visually-hidden, .visually-hidden *)")
    .evaluateAll((all) =>
      all
        .filter((element) =>
          [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim()),
        )
        .map((element) => Number.parseFloat(getComputedStyle(element).fontSize)),
    );
  const headline = await page.locator("h1").evaluate((h1) => Number.parseFloat(getComputedStyle(h1).fontSize));
  expect(new Set(sizes).size).toBeLessThanOrEqual(9);
  expect(Math.max(...sizes)).toBe(headline);
});

it.each([1024, 1328, 1360, 1440])(
  "the features end at the edge of the page or of the left column, at %d px",
  async (width) => {
    const page = await openPage({ viewport: { width, height: 900 }, reducedMotion: "reduce" });
    await page.goto(site.url);
    await settled(page);
    const edges = await page
      .locator(".feature > figure")
      .evaluateAll((figures) =>
        figures.map((figure) =>
          Math.max(
            ...[...figure.querySelectorAll("*")].map((part) => part.getBoundingClientRect().right),
            figure.getBoundingClientRect().right,
          ),
        ),
      );
    expect(edges.length).toBe(5);
    expect(new Set(edges.map(Math.round)).size).toBe(2);
  },
);

it("the curves of the stem begin and end on the stem, on whole pixels", async () => {
  const page = await openPage({ viewport: { width: 1366, height: 900 }, reducedMotion: "reduce" });
  await page.goto(site.url);
  await settled(page);
  const ends = await page
    .locator(".vine")
    .evaluateAll((vines) =>
      vines.flatMap((vine) => [vine.getBoundingClientRect().left, vine.getBoundingClientRect().right]),
    );
  expect(ends.map((end) => Math.abs(end - Math.round(end)))).toEqual(ends.map(() => 0));
});

it("takes at most seven and a half screens of a phone", async () => {
  const page = await openPage({ viewport: { width: 390, height: 844 } });
  await page.goto(site.url);
  await settled(page);
  expect(await page.evaluate(() => document.documentElement.scrollHeight / innerHeight)).toBeLessThanOrEqual(7.5);
});

it("56 to 72 px separate the sections on a phone", async () => {
  const page = await openPage({ viewport: { width: 390, height: 844 }, reducedMotion: "reduce" });
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
});

it.each([390, 1440])("the example has one height for each of its sentences, at %d px", async (width) => {
  const page = await openPage({ viewport: { width, height: 900 }, reducedMotion: "reduce" });
  await page.goto(site.url);
  await settled(page);
  const heights = [];
  for (const sentence of await page.getByRole("group", { name: "Choose a sentence" }).getByRole("radio").all()) {
    await sentence.check();
    heights.push(await page.locator(".demo").evaluate((demo) => (demo as HTMLElement).offsetHeight));
  }
  expect(heights.length).toBe(3);
  expect(new Set(heights).size).toBe(1);
});

it.each([
  [390, 844],
  [1440, 900],
])("at %d × %d px, the links of the navigation bar lead to headings directly below the bar", async (width, height) => {
  const page = await openPage({ viewport: { width, height }, reducedMotion: "reduce" });
  for (const name of ["Features", "Pricing"]) {
    await page.goto(site.url);
    await page.getByRole("link", { name, exact: true }).click();
    const gap = await page.evaluate(() => {
      const heading = document.querySelector(":target") as HTMLElement;
      const text = document.createRange();
      text.selectNodeContents(heading);
      return text.getBoundingClientRect().top - (document.querySelector("header")?.getBoundingClientRect().bottom ?? 0);
    });
    expect(gap).toBeGreaterThanOrEqual(8);
    expect(gap).toBeLessThanOrEqual(48);
  }
});

it("the whole form is visible after a click on the button of the navigation bar", async () => {
  const page = await openPage({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
  await page.goto(site.url);
  await page.getByRole("navigation").getByRole("link", { name: "Get Early Access" }).click();
  const card = await page.locator(".form-card").boundingBox();
  expect(card?.y).toBeGreaterThan(64);
  expect((card?.y ?? 0) + (card?.height ?? 0)).toBeLessThan(900);
});

describe.each([320, 1024, 1280])("the question about a long address, at %d px,", (width) => {
  const address = `${"m".repeat(64)}@gmial.com`;

  /** Returns the elements that are wider than the form's card. */
  const wide = (page: Page) =>
    page.locator(".form-card *:not(.visually-hidden, .visually-hidden *)").evaluateAll((all) => {
      const edge = document.querySelector(".form-card")?.getBoundingClientRect().right ?? 0;
      return all.filter((element) => element.getBoundingClientRect().right > edge).map(({ outerHTML }) => outerHTML);
    });

  it("stays in its card, and leaves the other fields their width", async () => {
    const page = await openPage({ viewport: { width, height: 900 }, reducedMotion: "reduce" });
    await page.goto(site.url);
    await hydrateForm(page);
    const before = await page.getByLabel("Name").evaluate((input) => (input as HTMLElement).offsetWidth);
    await page.getByLabel("Email").fill(address);
    await page.getByLabel("Company").focus();
    await page.getByText("Did you mean").waitFor();
    expect(await page.getByLabel("Name").evaluate((input) => (input as HTMLElement).offsetWidth)).toBe(before);
    expect(await wide(page)).toEqual([]);
  });

  it("stays in its card without JavaScript", async () => {
    const page = await openPage({ viewport: { width, height: 900 }, javaScriptEnabled: false });
    await page.goto(site.url);
    await page.getByLabel("Name").fill("Ada");
    await page.getByLabel("Email").fill(address);
    await page.getByLabel("Company").fill("Engines");
    await page.locator("form button").click();
    await page.getByText("Did you mean").waitFor();
    expect(await wide(page)).toEqual([]);
  });
});

it("lists without markers keep their role in Safari", async () => {
  const page = await openPage();
  for (const path of ["/", "/?joined", "/nope"]) {
    await page.goto(site.url + path);
    const lists = await page
      .locator(":is(ul, ol):not([role=list], [aria-hidden=true] *)")
      .evaluateAll((all) => all.map((list) => list.outerHTML));
    expect(lists).toEqual([]);
  }
});

it("text uses the brand font and then the scaled fallback font", async () => {
  const page = await openPage();
  await page.goto(site.url);
  const [families, declared] = await page.evaluate(() => [
    getComputedStyle(document.body).fontFamily.replaceAll('"', ""),
    [...new Set([...document.fonts].map(({ family }) => family))].join(", "),
  ]);
  expect(families).toBe(`${declared}, sans-serif`);
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

it.each(["no-preference", "reduce"] as const)(
  "nothing shifts while the page loads and its animations run (prefers-reduced-motion: %s)",
  async (motion) => {
    const page = await openPage({ viewport: { width: 360, height: 740 }, reducedMotion: motion });
    await recordShifts(page);
    // The brand font may arrive after the first paint and move words within a line; the tests of a late font limit that.
    await page.route("**/*.woff2", (route) => route.abort());
    await page.goto(site.url);
    await page.locator("#early-access").scrollIntoViewIfNeeded();
    await page.waitForLoadState("networkidle");
    await animationsFinished(page);
    expect(await takeShifts(page)).toEqual([]);
  },
);

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

describe.each(["Arial", "Roboto"] as const)("a late font that replaces %s", (fallback) => {
  it.each([360, 768, 1280])("moves no line and no block at %d px", async (width) => {
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
});

it("the hero is complete in its first frame: its animations move, and hide nothing", async () => {
  const page = await openPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(site.url);
  const animated = await page.evaluate(() =>
    document
      .getAnimations()
      .filter(({ effect }) => (effect as KeyframeEffect).target?.closest(".hero"))
      .flatMap(({ effect }) => (effect as KeyframeEffect).getKeyframes())
      .flatMap((keyframe) => Object.keys(keyframe)),
  );
  const timing = ["offset", "easing", "composite", "computedOffset"];
  expect(new Set(animated)).toEqual(new Set([...timing, "transform", "clipPath"]));
  // Stems have no text.
  const clipped = await page.evaluate(
    () =>
      document
        .getAnimations()
        .filter((animation) => (animation as CSSAnimation).animationName === "uncover")
        .map(({ effect }) => effect as KeyframeEffect)
        .filter(({ target, pseudoElement }) => target?.closest(".hero") && !pseudoElement).length,
  );
  expect(clipped).toBe(0);
});

it("runs no animation and shows everything if the visitor prefers reduced motion", async () => {
  const page = await openPage({ reducedMotion: "reduce" });
  await page.goto(site.url);
  const running = await page.evaluate(() =>
    document
      .getAnimations()
      .map((animation) => (animation as CSSAnimation).animationName)
      .filter((name) => name !== "deferred-layout"),
  );
  expect(running).toEqual([]);
  const invisible = await page.evaluate(
    () =>
      [...document.querySelectorAll(".demo *")].filter((element) => getComputedStyle(element).opacity !== "1").length,
  );
  expect(invisible).toBe(0);
  const stems = await page.evaluate(
    () =>
      [...document.querySelectorAll(".stem, .lane, .vine svg, .step-marker, .composer .seed")]
        .flatMap((part) => ["", "::before", "::after"].map((pseudo) => getComputedStyle(part, pseudo || null)))
        .filter(({ transform, clipPath }) => transform !== "none" || clipPath !== "none").length,
  );
  expect(stems).toBe(0);
});

describe("the deferred layout below the first screen", () => {
  /** Returns the content-visibility of each section at a moment of its animation, in milliseconds. */
  const contentVisibility = (page: Page, moment: number | "end") =>
    page.locator(".section, .early-access, .footer").evaluateAll(
      (all, at) =>
        all.map((section) => {
          const [animation] = section.getAnimations();
          if (at === "end") animation?.finish();
          else if (animation) animation.currentTime = at;
          return getComputedStyle(section).contentVisibility;
        }),
      moment,
    );

  it("takes place after the first screen is laid out", async () => {
    const page = await openPage({ viewport: { width: 360, height: 740 } });
    // The animations end after 51 ms, which a script could miss.
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Animation.enable");
    await devtools.send("Animation.setPlaybackRate", { playbackRate: 0 });
    await page.goto(site.url);
    expect(new Set(await contentVisibility(page, 0))).toEqual(new Set(["auto"]));
    expect(new Set(await contentVisibility(page, "end"))).toEqual(new Set(["visible"]));
  });

  it("does not move the target of a link to a section, nor the position to which a visitor returns", async () => {
    const page = await openPage({ viewport: { width: 1280, height: 740 }, reducedMotion: "reduce" });
    await page.goto(`${site.url}/#pricing`);
    expect(new Set(await contentVisibility(page, "end"))).toEqual(new Set(["visible"]));
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
  });
});

it("draws borders around buttons and fields in forced colors", async () => {
  const page = await openPage({ forcedColors: "active" });
  await page.goto(site.url);
  const borders = await page
    .locator(".button, input:not([type=hidden]), .form-card")
    .evaluateAll((all) => all.map((element) => getComputedStyle(element).borderTopWidth));
  expect(borders.filter((border) => border === "0px")).toEqual([]);
});

it("prints its text without controls and decoration", async () => {
  const page = await openPage();
  await page.goto(site.url);
  await page.emulateMedia({ media: "print" });
  expect(await page.locator("header").evaluate((bar) => getComputedStyle(bar).position)).toBe("static");
  expect(await page.locator("header").evaluate((bar) => getComputedStyle(bar).borderBottomWidth)).toBe("0px");
  for (const screenOnly of [".navigation-link", ".button", ".step-marker", ".vine", "form"]) {
    expect(await page.locator(screenOnly).first().isVisible()).toBe(false);
  }
  expect(await page.getByText("Starter Plan").isVisible()).toBe(true);
});
