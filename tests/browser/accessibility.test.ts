// Accessibility: axe in every state, theme and size of the page, and the keyboard.
import axe from "axe-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  animationsFinished,
  breakSending,
  deferredLayoutFinished,
  hydrated,
  openPage,
  sendFormTo,
  type WatchedPage,
} from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";

let database: TestDatabase;
let site: Site;
let closedSite: Site;

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: "1000" };
  site = await startSite({ env });
  closedSite = await startSite({ env: { ...env, WAITLIST: "closed", CONTACT_EMAIL: "privacy@perennial.example" } });
});

afterAll(async () => {
  await site.stop();
  await closedSite.stop();
  await database.drop();
});

async function expectNoViolations(page: WatchedPage) {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const { axe: checker } = window as unknown as { axe: typeof axe };
    const { violations: all } = await checker.run({
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    // The toast lies over the navigation bar, and the question over a label. axe cannot judge what they cover, nor their own
    // text over it; tests/contrast.test.ts has their colours. A toast may be gone after the check.
    const overlays = [...document.querySelectorAll("[data-sonner-toast], .suggestion")].map((element) =>
      element.getBoundingClientRect(),
    );
    // axe does not judge the contrast of text over a drawn background, so once more without the drawings.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("*::before, *::after { display: none !important }");
    document.adoptedStyleSheets.push(sheet);
    const contrast = await checker.run({ runOnly: ["color-contrast"] });
    document.adoptedStyleSheets.pop();
    const byOverlay = new Set(["bgOverlap", "elmPartiallyObscuring"]);
    const isCovered = (selector: string) => {
      const { top, bottom, left, right } = (document.querySelector(selector) as Element).getBoundingClientRect();
      return overlays.some((over) => top < over.bottom && bottom > over.top && left < over.right && right > over.left);
    };
    const undecided = contrast.incomplete.flatMap(({ id, nodes }) =>
      nodes
        .filter(({ any }) => any[0]?.data?.messageKey !== "shortTextContent")
        .filter(({ any, target }) => !(byOverlay.has(any[0]?.data?.messageKey) && isCovered(target[0] as string)))
        .map(({ html, any }) => ({ id: `${id} ${any[0]?.data?.messageKey}`, nodes: [{ html }] })),
    );
    return [...all, ...contrast.violations, ...undecided].map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`,
    );
  });
  expect(violations).toEqual([]);
}

async function fill(page: WatchedPage, email: string) {
  await page.goto(site.url);
  await page.getByLabel("Name").fill("Ada");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Company").fill("Engines");
}

async function submit(page: WatchedPage, email: string) {
  await fill(page, email);
  await hydrated(page);
  await page.locator("form button").click();
}

/** Waits until the toast is fully visible: while it fades in, its contrast is lower. */
async function toastShown(page: WatchedPage) {
  await page.locator("[data-sonner-toast][data-mounted=true]").waitFor();
  await animationsFinished(page);
}

/** Of no entry. */
const token = "A".repeat(22);

const states: Record<string, (page: WatchedPage) => Promise<unknown>> = {
  empty: (page) => page.goto(site.url),
  "answers open": async (page) => {
    await page.goto(site.url);
    for (const summary of await page.locator("summary").all()) await summary.click();
  },
  sending: async (page) => {
    await page.route("**/api/earlyaccess", () => undefined);
    await submit(page, "ada@example.com");
    await page.getByRole("button", { name: "Joining..." }).waitFor();
  },
  errors: async (page) => {
    await submit(page, "ada@localhost");
    await toastShown(page);
  },
  joined: async (page) => {
    await submit(page, "ada@example.com");
    await toastShown(page);
  },
  "mistyped address": async (page) => {
    await fill(page, "ada@gmial.com");
    await hydrated(page);
    await page.getByLabel("Email").focus();
    await page.getByLabel("Company").focus();
    await page.getByText("Did you mean ada@gmail.com?").waitFor();
  },
  "joined without JavaScript": (page) => page.goto(`${site.url}/?joined&undo=${token}`),
  undone: (page) => page.goto(`${site.url}/?undone#early-access`),
  "errors without JavaScript": async (page) => {
    await page.route("**/assets/*.js", (route) => route.abort());
    await fill(page, "ada@localhost");
    await page.locator("form button").click();
    await page.waitForURL("**/api/earlyaccess");
  },
  "mistyped address without JavaScript": async (page) => {
    await page.route("**/assets/*.js", (route) => route.abort());
    await fill(page, "ada@gmial.com");
    await page.locator("form button").click();
    await page.getByText("Did you mean ada@gmail.com?").waitFor();
  },
  "error page": async (page) => {
    await breakSending(page);
    await submit(page, "ada@example.com");
    await page.getByRole("heading", { name: "Unexpected Application Error!" }).waitFor();
  },
  "privacy page": (page) => page.goto(`${site.url}/privacy`),
  "confirmation page": (page) => page.goto(`${site.url}/confirm?token=${token}`),
  "left the list": async (page) => {
    await page.goto(`${site.url}/leave?token=${token}`);
    await page.getByRole("button").click();
    await page.getByRole("heading", { name: "Goodbye" }).waitFor();
  },
  closed: (page) => page.goto(closedSite.url),
  "closed and undone": (page) => page.goto(`${closedSite.url}/?undone#early-access`),
  "closed since the page was loaded": async (page) => {
    await sendFormTo(closedSite.url, page);
    await submit(page, "ada@example.com");
    await toastShown(page);
  },
  "closed since the page was loaded, without JavaScript": async (page) => {
    await page.route("**/assets/*.js", (route) => route.abort());
    await sendFormTo(closedSite.url, page);
    await fill(page, "ada@example.com");
    await page.locator("form button").click();
    await page.waitForURL("**/api/earlyaccess");
  },
  "404 page": (page) => page.goto(`${site.url}/nope`),
};

describe.each([
  ["light", "a phone", { width: 360, height: 740 }],
  ["dark", "a desktop", { width: 1280, height: 900 }],
] as const)("axe finds no violation in the %s theme on %s", (colorScheme, _device, viewport) => {
  it.each(Object.entries(states))("in the state: %s", async (_name, enter) => {
    const page = await openPage({ colorScheme, viewport, reducedMotion: "reduce" });
    await enter(page);
    await expectNoViolations(page);
  });
});

describe.each(["light", "dark"] as const)(
  "axe finds no violation while the hero moves in the %s theme",
  (colorScheme) => {
    it.each([0, 600, 1200])("at %i ms", async (moment) => {
      const page = await openPage({
        colorScheme,
        viewport: { width: 1280, height: 900 },
        reducedMotion: "no-preference",
      });
      await page.goto(site.url);
      const moving = await page.evaluate((at) => {
        const animations = document
          .getAnimations()
          .filter((animation) => (animation as CSSAnimation).animationName !== "deferred-layout")
          .filter(({ timeline }) => timeline === document.timeline);
        for (const animation of animations) {
          animation.pause();
          animation.currentTime = at;
        }
        return animations.length;
      }, moment);
      expect(moving).toBeGreaterThan(2);
      await expectNoViolations(page);
    });
  },
);

describe("the keyboard", () => {
  const focused = (page: WatchedPage) =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      return element.getAttribute("name") ?? element.textContent?.trim() ?? "";
    });

  /** Returns whether the navigation bar or another element covers the focused element. */
  const covered = (page: WatchedPage) =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      if (element === document.body || element.closest("header")) return false;
      const { left, top, width, height } = element.getBoundingClientRect();
      const topmost = document.elementFromPoint(left + width / 2, top + height / 2);
      return !(topmost && (element.contains(topmost) || topmost.contains(element)));
    });

  it("reaches every control in order, forwards and backwards, and nothing covers the focused one", async () => {
    const page = await openPage({ viewport: { width: 360, height: 640 }, reducedMotion: "reduce" });
    await page.goto(site.url);
    await deferredLayoutFinished(page);
    const seen: string[] = [];
    while (seen.at(-1) !== "job_title") {
      await page.keyboard.press("Tab");
      seen.push(await focused(page));
      expect([seen.at(-1), await covered(page)]).toEqual([seen.at(-1), false]);
    }
    expect(seen[0]).toBe("Skip to the content");
    expect(seen.slice(-4)).toEqual(["name", "email", "company", "job_title"]);
    for (const name of seen.slice(0, -1).toReversed()) {
      await page.keyboard.press("Shift+Tab");
      expect([await focused(page), await covered(page)]).toEqual([name, false]);
    }
  });

  it("is enough to sign up", async () => {
    const page = await openPage();
    await page.goto(site.url);
    while ((await focused(page)) !== "Sign up for early access") await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.id === "early-access");
    for (const text of ["Grace", "grace@example.com", "Navy", "Admiral"]) {
      await page.keyboard.press("Tab");
      await page.keyboard.type(text);
    }
    await page.keyboard.press("Enter");
    await page.getByText("Welcome to the future! 🚀").first().waitFor();
    expect(await database.query("SELECT name FROM earlyaccess WHERE email = 'grace@example.com'")).toHaveLength(1);
  });

  it.each([true, false])("chooses a sentence of the example (JavaScript: %s)", async (javaScriptEnabled) => {
    const page = await openPage({ javaScriptEnabled });
    await page.goto(site.url);
    while (!(await page.getByRole("radio", { name: "Win back" }).evaluate((radio) => radio.matches(":focus"))))
      await page.keyboard.press("Tab");
    for (const segment of ["Born in June", "Newcomers", "Gone quiet"]) {
      await page.keyboard.press("ArrowRight");
      const shown = page.locator(".segment-head b, .rule .chip").filter({ visible: true });
      expect(await shown.allTextContents()).toEqual([segment, segment]);
    }
  });

  it("skips to the content with the first link", async () => {
    const page = await openPage();
    await page.goto(site.url);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
  });
});
