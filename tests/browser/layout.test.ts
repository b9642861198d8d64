// The layout: widths, target sizes, links within the page, shifts, and the visitor's settings for motion and contrast.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { fields } from "../../client/shared/fields.ts";
import { createBrowserSites, animationsFinished, deferredLayoutFinished, openPage } from "../support/browser.ts";

const sites = await createBrowserSites();

/** Calls the function at four widths. 320 px are 1280 px at 400 % zoom. */
async function atEachWidth(page: Page, check: (width: number) => Promise<unknown>) {
  await deferredLayoutFinished(page);
  for (const width of [320, 768, 1024, 2560]) {
    await page.setViewportSize({ width, height: 800 });
    await check(width);
  }
}

const token = "A".repeat(22);

type State = [name: string, url: () => string, prepare?: () => unknown];

/** The pages and states. With a function, which is called first, the response to the form of the page. */
const states: State[] = [
  ["the landing page", () => sites.open.url],
  ["the page after a sign-up", () => `${sites.open.url}/?joined&undo=${token}`],
  ["the page after an undo", () => `${sites.open.url}/?undone`],
  ["the page of an empty form", () => sites.open.url, () => undefined],
  ["the privacy page", () => `${sites.open.url}/privacy`],
  ["the page of a link", () => `${sites.open.url}/leave?token=${token}`],
  ["the error page", () => `${sites.open.url}/confirm?token=${token}`, () => sites.wire.cut()],
  ["the 404 page", () => `${sites.open.url}/nope`],
  ["the closed page", () => sites.closed.url],
];

async function openState([, url, prepare]: State) {
  const page = await openPage({ url: url() });
  if (prepare) {
    await prepare();
    const submit = page.locator("main form").evaluate((form: HTMLFormElement) => form.submit());
    await Promise.all([page.waitForEvent("load"), submit]);
    await sites.wire.mend();
  }
  return page;
}

it.each(states)(
  "%s does not overflow, its bar has one row, and links, buttons and inputs are at least 44 × 44 px, selects 34 × 34 px",
  async (...state) => {
    const page = await openState(state);
    await atEachWidth(page, async (width) => {
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      const small = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>("a, button, input:not([type=hidden]), select, .send")]
          .filter((element) => !element.matches(".skip-link, .visually-hidden *, p a")) // WCAG excepts what is in a text.
          .map((element) => ({ element, box: element.getBoundingClientRect() }))
          .map(({ element, box }) => ({ text: element.textContent, least: element.matches("select") ? 34 : 44, box }))
          .filter(({ least, box }) => box.height < least || box.width < least)
          .map(({ text, box }) => `${text} ${box.width} × ${box.height}`),
      );
      expect(small, `at ${width} px`).toEqual([]);
      const bar = page.getByRole("navigation");
      expect(await bar.getByText("Perennial").isVisible()).toBe(true);
      expect(await bar.getByRole("link", { name: /Get Early Access|List closed/ }).isVisible()).toBe(true);
      expect((await bar.boundingBox())?.height, `at ${width} px`).toBeLessThan(2 * 44);
    });
  },
);

/** Runs in the page. Returns the texts that reach out of the page or a card, and a bar that covers what links lead to. */
function findMisfits(): string[] {
  const isCard = (element: Element) => {
    const { backgroundColor, borderRightWidth } = getComputedStyle(element);
    return backgroundColor !== "rgba(0, 0, 0, 0)" || borderRightWidth !== "0px" || element.matches("html, label");
  };
  const bar = document.querySelector("header") as HTMLElement;
  const padding = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
  const covers = getComputedStyle(bar).position === "fixed" && bar.offsetHeight > padding;
  const misfits = covers ? [`the bar has ${bar.offsetHeight} px`] : [];
  const texts = document.createTreeWalker(document.querySelector("#root") as Element, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (texts.nextNode()) {
    range.selectNodeContents(texts.currentNode);
    const boxes = [...range.getClientRects()].filter(({ width, right }) => width > 0 && right > 0);
    if (texts.currentNode.parentElement?.closest(".visually-hidden")) continue;
    for (let card = texts.currentNode.parentElement; card; card = card.parentElement) {
      const { left, right, top, bottom } = card.getBoundingClientRect();
      const isOutside = (box: DOMRect) =>
        box.left < left - 1 || box.right > right + 1 || box.top < top - 2 || box.bottom > bottom + 2;
      if (isCard(card) && boxes.some(isOutside)) misfits.push(`"${texts.currentNode.nodeValue}" in ${card.className}`);
    }
  }
  return misfits;
}

it.each(states)(
  "%s fits with words of twice their length, the text spacing of WCAG 1.4.12, and font sizes of 16 to 32 px",
  async (...state) => {
    const page = await openState(state);
    await deferredLayoutFinished(page);
    await page.evaluate(() => {
      const spacing = new CSSStyleSheet();
      const rules = "line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important";
      spacing.replaceSync(`* { ${rules} } p { margin-bottom: 2em !important }`);
      document.adoptedStyleSheets.push(spacing);
      const texts = document.createTreeWalker(document.querySelector("#root") as Element, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const text = texts.currentNode as Text;
        if (text.parentElement?.matches(".logo")) continue; // The name is the same in every language.
        text.data = text.data.replaceAll(/\p{L}+/gu, (word) => word + word.toLowerCase());
      }
    });
    const devtools = await page.context().newCDPSession(page);
    const setFontSize = (standard: number) => devtools.send("Page.setFontSizes", { fontSizes: { standard } });
    for (const size of [18, 20, 24, 32, 16]) {
      await setFontSize(size);
      expect(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize)).toBe(`${size}px`);
      for (const width of [320, 390, 768, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        expect(await page.evaluate(findMisfits), `${size} px at ${width} px`).toEqual([]);
      }
    }
  },
);

it("a printed page labels its examples and has all icons, wherever the window stands", async () => {
  const page = await openPage({ url: sites.open.url, reducedMotion: "no-preference" });
  await page.evaluate(() => scrollTo({ top: 100, behavior: "instant" }));
  await settled(page);
  await page.emulateMedia({ media: "print" });
  const icons = page.locator(".feature .step-marker .icon");
  expect(await icons.evaluateAll((all) => all.map((icon) => icon.getBoundingClientRect().width > 0))).toEqual(
    Array(6).fill(true),
  );
  expect(await page.getByText("Choose a sentence").last().isVisible()).toBe(false);
  expect(await page.locator(".tag").filter({ visible: true }).count()).toBe(2);
});

it("on a phone the form follows its heading, and its button is above the fold", async () => {
  const height = 664 + 71 * (fields.length - 4); // One more row for each field beyond four.
  const page = await openPage({ url: sites.open.url, viewport: { width: 390, height } });
  await page.getByRole("link", { name: "Sign up for early access" }).click();
  const form = page.locator("#early-access");
  const boxes = [form.getByRole("heading").first(), form.locator("[type=submit]"), form.getByText("What happens next")];
  const [heading, button, next] = await Promise.all(boxes.map((locator) => locator.boundingBox()));
  expect(heading?.y).toBeGreaterThanOrEqual(64);
  expect((button?.y ?? Infinity) + (button?.height ?? 0)).toBeLessThanOrEqual(height);
  expect(next?.y).toBeGreaterThan(button?.y ?? Infinity);
});

it.each([
  [390, 844, 6.6],
  [1440, 900, 5.7],
])("at %d × %d px, the page has at most %d screens, and links lead below the bar", async (width, height, screens) => {
  const page = await openPage({ url: sites.open.url, viewport: { width, height } });
  await deferredLayoutFinished(page);
  expect((await page.evaluate(() => document.documentElement.scrollHeight)) / height).toBeLessThanOrEqual(screens);
  const bar = (await page.locator("header").boundingBox())?.height ?? 0;
  for (const name of ["Features", "Pricing"]) {
    await page.evaluate(() => scrollTo(0, 0));
    await page.getByRole("link", { name, exact: true }).click();
    const top = await page.evaluate(() => {
      const text = document.createRange();
      text.selectNodeContents(document.querySelector(":target") as HTMLElement);
      return text.getBoundingClientRect().top;
    });
    expect(top - bar).toBeGreaterThanOrEqual(8);
    expect(top - bar).toBeLessThanOrEqual(48);
  }
  await page.getByRole("navigation").getByRole("link", { name: "Get Early Access" }).click();
  expect(await page.getByText("Get Early Access", { exact: true }).count()).toBe(2); // In the bar and in the form.
  const { top, bottom } = await page.locator(".form-card").evaluate((card) => card.getBoundingClientRect());
  expect(top).toBeGreaterThan(0);
  expect(width < 1024 ? top : bottom).toBeLessThan(height); // A phone is too small for the whole form.
});

it("from 320 to 430 px, the bar has one row and AI-native stays in one line", async () => {
  const page = await openPage({ url: sites.open.url });
  for (let width = 320; width <= 430; width += 10) {
    await page.setViewportSize({ width, height: 800 });
    const seen = await page.evaluate(() => {
      const lead = document.querySelector(".hero-lead")?.firstChild as Text;
      const word = document.createRange();
      word.setStart(lead, lead.data.indexOf("AI-"));
      word.setEnd(lead, lead.data.indexOf("native") + "native".length);
      return { bar: document.querySelector("nav")?.clientHeight, lines: word.getClientRects().length };
    });
    expect(seen, `at ${width} px`).toEqual({ bar: 64, lines: 1 });
  }
});

it.each([
  [1280, 600, "#pricing"],
  [1440, 760, "#pricing"],
  [1920, 1440, "#pricing"],
  [390, 844, "#early-access"],
])("at %d × %d px, everything in view after a link to %s is grown", async (width, height, link) => {
  const page = await openPage({ url: sites.open.url, viewport: { width, height }, reducedMotion: "no-preference" });
  await deferredLayoutFinished(page);
  await page.locator(link).evaluate((element) => element.scrollIntoView({ behavior: "instant" }));
  await settled(page);
  const growing = await page.evaluate(() =>
    document
      .getAnimations()
      .filter((animation) => (animation as CSSAnimation).animationName !== "pass")
      .filter(({ timeline }) => timeline !== document.timeline)
      .map(({ effect }) => effect as KeyframeEffect)
      .filter((effect) => {
        const { progress, direction } = effect.getComputedTiming();
        const { top, bottom } = (effect.target as Element).getBoundingClientRect();
        return progress !== (direction === "reverse" ? 0 : 1) && top > 64 && bottom < innerHeight;
      })
      .map(({ target, pseudoElement }) => `${(target as Element).outerHTML.slice(0, 60)} ${pseudoElement}`),
  );
  expect(growing).toEqual([]);
});

it.each([
  [390, 844],
  [1440, 900],
])("at %d × %d px, no leaf stays half open, and each one in view opens, in steps of 100 px", async (width, height) => {
  const page = await openPage({ url: sites.open.url, viewport: { width, height }, reducedMotion: "no-preference" });
  await deferredLayoutFinished(page);
  for (let top = 100; top < 4000; top += 100) {
    await page.evaluate((y) => scrollTo({ top: y, behavior: "instant" }), top);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const unfinished = await page.evaluate(() => {
      for (const animation of document.getAnimations())
        if (animation.timeline === document.timeline) animation.finish();
      return [...document.querySelectorAll(".feature .step-marker, .plant, .vine:not(.vine-end)")]
        .filter((leaf) => {
          const { transform } = getComputedStyle(leaf, leaf.matches(".vine") ? "::after" : null);
          const isOpen = transform === "none";
          const isClosed = transform.startsWith("matrix(0, 0, 0, 0,");
          const bottom = leaf.parentElement?.getBoundingClientRect().bottom ?? 0;
          return isOpen === isClosed || (isClosed && bottom < innerHeight * 0.75);
        })
        .map((leaf) => leaf.outerHTML.slice(0, 60));
    });
    expect(unfinished, `at ${top} px`).toEqual([]);
  }
});

it.each([
  [390, 844, "light"],
  [1440, 900, "dark"],
] as const)(
  "at %d × %d px, %s, a picture of the whole page shows all of it grown",
  async (width, height, colorScheme) => {
    const picture = async (reducedMotion: "reduce" | "no-preference") => {
      const page = await openPage({ viewport: { width, height }, reducedMotion });
      await page.emulateMedia({ colorScheme });
      await page.goto(sites.open.url);
      await deferredLayoutFinished(page);
      await settled(page);
      return page.screenshot({ fullPage: true });
    };
    const pictures = [await picture("reduce"), await picture("no-preference")];
    const page = await openPage({ url: sites.open.url });
    // The edges of letters differ a little: an element with an animation is drawn in a layer of its own.
    const largest = await page.evaluate(
      async (files) => {
        const [one, other] = await Promise.all(
          files.map(async (file) => {
            const bytes = Uint8Array.from(atob(file), (byte) => byte.charCodeAt(0));
            const image = await createImageBitmap(new Blob([bytes]));
            const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
            context?.drawImage(image, 0, 0);
            return context?.getImageData(0, 0, image.width, image.height).data;
          }),
        );
        return one?.reduce((most, value, i) => Math.max(most, Math.abs(value - (other?.[i] ?? Infinity))), 0);
      },
      pictures.map((file) => file.toString("base64")),
    );
    expect(largest).toBeLessThan(128);
  },
);

it.each([
  [1024, 600],
  [1280, 600],
  [1366, 640],
])("at %d × %d px, the button of the first screen is above the fold", async (width, height) => {
  const page = await openPage({ url: sites.open.url, viewport: { width, height } });
  const box = await page.getByRole("link", { name: "Sign up for early access" }).boundingBox();
  expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThanOrEqual(height);
});

/** Returns the layout shifts since the page began to load. */
const readShifts = (page: Page) =>
  page.evaluate(() => {
    const observer = new PerformanceObserver(() => undefined);
    observer.observe({ type: "layout-shift", buffered: true });
    return observer.takeRecords().map((entry) => (entry as unknown as { value: number }).value);
  });

/** Keeps the brand font away, which may arrive after the first paint and move words: the tests of a late font limit that. */
const withoutLateFont = (page: Page) => page.route("**/*.woff2", (route) => route.abort());

it("the landing page does not shift while it loads and its animations run", async () => {
  const page = await openPage({ viewport: { width: 360, height: 740 }, reducedMotion: "no-preference" });
  await withoutLateFont(page);
  await page.goto(sites.open.url);
  await page.locator("#early-access").scrollIntoViewIfNeeded();
  await page.waitForLoadState("networkidle");
  await animationsFinished(page);
  expect(await readShifts(page)).toEqual([]);
});

it.each([360, 1280])("at %d px, a sign-up that a reload shows again moves nothing in view", async (width) => {
  const page = await openPage({ viewport: { width, height: 800 } });
  await withoutLateFont(page);
  await page.route("**/hydrate-*.js", () => undefined, { times: 1 });
  await page.goto(`${sites.open.url}/#early-access`);
  await page.evaluate(() => history.replaceState({ joined: "A".repeat(22) }, ""));
  await page.reload();
  await page.getByText("Welcome to the future").waitFor();
  await settled(page);
  expect(await readShifts(page)).toEqual([]);
});

/** Waits two frames, the first of which starts animations, and then until the animations have ended. */
async function settled(page: Page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await animationsFinished(page);
}

/** Regular fonts with the widths of Arial and Roboto, instead of those that the machine has or lacks. */
const fallbacks = {
  Arial: import.meta.resolve("@fontsource/arimo/files/arimo-latin-400-normal.woff2"),
  Roboto: import.meta.resolve("@fontsource/roboto/files/roboto-latin-400-normal.woff2"),
};

async function withFallbackFont(html: string, name: keyof typeof fallbacks): Promise<string> {
  const read = async (file: string) => `url(data:font/woff2;base64,${await readFile(fileURLToPath(file), "base64")})`;
  const bold = fallbacks[name].replace("400", "700");
  const fonts: Record<string, string> = { [name]: await read(fallbacks[name]), [`${name} Bold`]: await read(bold) };
  return html.replaceAll(/local\("?([^")]+)"?\)/g, (_, font: string) => fonts[font] ?? 'local("no installed font")');
}

it.each([
  ["Arial", 1280],
  ["Roboto", 360],
] as const)("a late font that replaces %s moves no line and no block at %d px", async (fallback, width) => {
  // The embedded font and the changed stylesheet violate the site's policy.
  const page = await openPage({ viewport: { width, height: 800 }, bypassCSP: true });
  await page.route(sites.open.url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: await withFallbackFont(await response.text(), fallback) });
  });
  let sendFont = () => {};
  const late = new Promise<void>((resolve) => (sendFont = resolve));
  await page.route("**/*.woff2", async (route) => {
    await late;
    await route.continue();
  });
  await page.goto(sites.open.url, { waitUntil: "commit" });
  await page.waitForFunction(
    (name) =>
      [...document.fonts].filter(({ family, status }) => family.includes(name) && status === "loaded").length === 2,
    fallback,
  );
  await settled(page);
  const { length: earlier } = await readShifts(page);
  const widths = () => page.locator(".navigation-link").evaluateAll((all) => all.map((link) => link.clientWidth));
  const before = await widths();
  sendFont();
  await page.waitForFunction(() =>
    [...document.fonts].some((font) => font.family === "Familjen" && font.status === "loaded"),
  );
  await settled(page);
  // A word within a line moves by a few pixels, which counts 0.001 at most; a line that breaks elsewhere counts 0.01.
  const shifts = (await readShifts(page)).slice(earlier);
  expect(shifts.reduce((sum, value) => sum + value, 0)).toBeLessThan(0.002);
  expect(await widths()).toEqual(before);
});

it("a visitor who prefers reduced motion sees no animation, nothing hidden and no smooth scrolling", async () => {
  const page = await openPage();
  const read = () =>
    page.evaluate(() => {
      const elements = [...document.querySelectorAll("body, body *")];
      const styles = elements.flatMap((one) =>
        [undefined, "::before", "::after"].map((part) => getComputedStyle(one, part)),
      );
      const moves = ({ animationName, transitionDuration }: CSSStyleDeclaration) =>
        !/^(none|deferred-layout)$/.test(animationName) || !/^0s(, 0s)*$/.test(transitionDuration);
      const shown = [...document.querySelectorAll("main :not(input)")].map((element) => getComputedStyle(element));
      return {
        moving: styles.filter(moves).length,
        transparent: shown.filter(({ opacity, visibility }) => opacity === "0" && visibility === "visible").length,
        scrolling: getComputedStyle(document.documentElement).scrollBehavior,
      };
    });
  for (const path of [`/confirm?token=${token}`, "/nope", "/"]) {
    await page.goto(sites.open.url + path);
    expect(await read()).toEqual({ moving: 0, transparent: 0, scrolling: "auto" });
  }
  await page.getByRole("radio", { name: "Birthdays" }).check();
  await page.getByRole("combobox").selectOption({ index: 1 });
  expect(await read()).toEqual({ moving: 0, transparent: 0, scrolling: "auto" });
  await page.emulateMedia({ reducedMotion: "no-preference" });
  expect((await read()).moving).toBeGreaterThan(9);
});

it("the stem has no gap at the plants and the form, and on a phone the brand line has the size of a heading", async () => {
  const page = await openPage({ url: sites.open.url });
  await atEachWidth(page, async (width) => {
    const seen = await page.evaluate(() => {
      const find = (selector: string) => document.querySelector(selector) as Element;
      const { bottom } = find(".plant").getBoundingClientRect();
      const size = (selector: string) => getComputedStyle(find(selector)).fontSize;
      const stem = find(".pricing .lane");
      const end = stem.getBoundingClientRect().bottom - Number.parseFloat(getComputedStyle(stem, "::before").bottom);
      return {
        depth: bottom - find(".plans").getBoundingClientRect().top,
        gap: find(".panel").getBoundingClientRect().top - end,
        isHeading: size(".promise p") === size("h2"),
      };
    });
    if (width === 1024) expect(seen.gap).toBeCloseTo(-1);
    if (width === 2560) expect(seen.depth).toBeCloseTo(2);
    expect(seen.isHeading).toBe(width === 320);
  });
});

it("forced colors draw borders around buttons and fields, the widest around the chosen sentence", async () => {
  const page = await openPage({ url: sites.open.url });
  await page.emulateMedia({ forcedColors: "active" });
  const borders = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((element) => getComputedStyle(element).borderTopWidth));
  expect(await borders(".button, input:not([type=hidden]), .form-card")).not.toContain("0px");
  expect(await borders("input:checked")).toEqual(["3px"]);
  const end = await page.locator(".panel .vine svg").evaluate((line) => {
    const { backgroundColor, stroke } = getComputedStyle(line);
    return { backgroundColor, stroke };
  });
  expect(end.backgroundColor).toBe(end.stroke);
});

it("the Back button and a reload return to the same position", async () => {
  const page = await openPage({ url: sites.open.url, viewport: { width: 1280, height: 740 } });
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

it("the choice of another sentence or value moves nothing outside its example", async () => {
  const page = await openPage({ url: sites.open.url });
  const check = async (width: number) => {
    const tops = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("main :not(.of-0, .of-1, .of-2, .of-0 *, .of-1 *, .of-2 *)")].map(
          (element) => element.getBoundingClientRect().top + scrollY,
        ),
      );
    const before = await tops();
    for (const name of ["Birthdays", "New faces", "Win back"]) {
      await page.getByRole("radio", { name }).check();
      expect(await tops(), `${name} at ${width} px`).toEqual(before);
      for (const select of await page.getByRole("combobox").all()) {
        for (const value of (await select.locator("option").allTextContents()).toReversed()) {
          await select.selectOption(value);
          expect(await tops(), `${value} at ${width} px`).toEqual(before);
        }
      }
    }
  };
  await atEachWidth(page, check);
  await page.setViewportSize({ width: 360, height: 800 });
  await check(360);
});

it("a value that changes lights up in all results, and none does while the page loads", async () => {
  const page = await openPage({ url: sites.open.url, reducedMotion: "no-preference" });
  const lights = () =>
    page.evaluate(() =>
      document
        .getAnimations()
        .filter((animation) => (animation as CSSAnimation).animationName === "light")
        .map((animation) => {
          animation.currentTime = 0;
          const { target } = animation.effect as KeyframeEffect;
          return getComputedStyle(target as Element).backgroundColor;
        })
        .filter((colour) => colour !== "rgba(0, 0, 0, 0)"),
    );
  expect(await lights()).toEqual([]);
  await settled(page);
  await page.getByRole("combobox", { name: "Reward" }).press("ArrowDown");
  expect(await lights()).toEqual(Array(3).fill("rgb(244, 183, 64)"));
  await page.getByRole("combobox", { name: "Reward" }).press("ArrowUp");
  expect(await lights()).toEqual(Array(3).fill("rgb(244, 183, 64)"));
});

it("a browser without :has() shows the first sentence with its first values, and nothing to change", async () => {
  const page = await openPage({ bypassCSP: true }); // The changed stylesheet violates the site's policy.
  await page.route(sites.open.url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replaceAll(":has(", ":unknown(") });
  });
  await page.goto(sites.open.url);
  expect(await page.locator(".demo :is(select, input)").filter({ visible: true }).count()).toBe(0);
  const values = page.locator(".demo u").filter({ visible: true });
  expect(new Set(await values.allInnerTexts())).toEqual(new Set(["90\u00a0days", "200\u00a0points"]));
});
