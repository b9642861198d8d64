// axe finds nothing, in any state, theme or size; and the page can be used with a keyboard alone.
import axe from "axe-core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { breakSending, launchBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";

let database: TestDatabase;
let site: Site;
let browser: Browser;

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: "1000" };
  site = await startSite({ env });
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  await site.stop();
  await database.drop();
});

async function expectNoViolations(page: WatchedPage) {
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const results = await (window as unknown as { axe: typeof axe }).axe.run({
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
  });
  expect(violations).toEqual([]);
}

async function fill(page: WatchedPage, email: string) {
  await page.getByLabel("Name").fill("Ada");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Company").fill("Engines");
  await page.waitForFunction(() =>
    Object.keys(document.querySelector("form") as object).some((key) => key.startsWith("__reactProps")),
  );
}

const states: Record<string, (page: WatchedPage) => Promise<unknown>> = {
  empty: (page) => page.goto(site.url),
  "answers open": async (page) => {
    await page.goto(site.url);
    for (const summary of await page.locator("summary").all()) await summary.click();
  },
  sending: async (page) => {
    await page.goto(site.url);
    await page.route("**/api/earlyaccess", () => undefined);
    await fill(page, "ada@example.com");
    await page.locator("form button").click();
    await page.getByRole("button", { name: "Joining..." }).waitFor();
  },
  errors: async (page) => {
    await page.goto(site.url);
    await fill(page, "ada@localhost");
    await page.locator("form button").click();
    await page.locator("[data-sonner-toast][data-mounted=true]").waitFor();
    await page.waitForTimeout(500); // The toast fades in, and half of it has half of its contrast.
  },
  joined: async (page) => {
    await page.goto(site.url);
    await fill(page, "ada@example.com");
    await page.locator("form button").click();
    await page.locator("[data-sonner-toast][data-mounted=true]").waitFor();
    await page.waitForTimeout(500);
  },
  "joined without JavaScript": (page) => page.goto(`${site.url}/?joined`),
  "refused without JavaScript": async (page) => {
    await page.route("**/assets/*.js", (route) => route.abort());
    await page.goto(site.url);
    await page.getByLabel("Name").fill("Ada");
    await page.getByLabel("Email").fill("ada@localhost");
    await page.getByLabel("Company").fill("Engines");
    await page.locator("form button").click();
    await page.waitForURL("**/api/earlyaccess");
  },
  "error page": async (page) => {
    await breakSending(page);
    await page.goto(site.url);
    await fill(page, "ada@example.com");
    await page.locator("form button").click();
    await page.getByRole("heading", { name: "Unexpected Application Error!" }).waitFor();
  },
  "not found": (page) => page.goto(`${site.url}/nope`),
};

describe.each(["light", "dark"] as const)("axe, %s", (colorScheme) => {
  describe.each([
    ["phone", { width: 360, height: 740 }],
    ["desktop", { width: 1280, height: 900 }],
  ])("%s", (_, viewport) => {
    it.each(Object.entries(states))("%s", async (_name, enter) => {
      const page = await openPage(browser, { colorScheme, viewport, reducedMotion: "reduce" });
      await enter(page);
      await expectNoViolations(page);
      await page.context().close();
    });
  });
});

describe("the keyboard", () => {
  const focused = (page: WatchedPage) =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      return element.getAttribute("name") ?? element.textContent?.trim() ?? "";
    });

  /** Whether the bar or anything else lies over what has the focus. */
  const covered = (page: WatchedPage) =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      if (element === document.body || element.closest("header")) return false;
      const { left, top, width, height } = element.getBoundingClientRect();
      const shown = document.elementFromPoint(left + width / 2, top + height / 2);
      return !(shown && (element.contains(shown) || shown.contains(element)));
    });

  it("reaches everything in order, forwards and backwards, always in sight and never under the bar", async () => {
    const page = await openPage(browser, { viewport: { width: 360, height: 640 }, reducedMotion: "reduce" });
    await page.goto(site.url);
    // What is below the first screen is laid out by then; nobody presses a key sooner.
    await page.waitForFunction(() =>
      document
        .getAnimations()
        .every((animation) => !("animationName" in animation && animation.animationName === "later")),
    );
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
    await page.context().close();
  });

  it("alone signs up", async () => {
    const page = await openPage(browser);
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
    await page.context().close();
  });

  it("skips to the content", async () => {
    const page = await openPage(browser);
    await page.goto(site.url);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
    await page.context().close();
  });
});
