// Where the form's question, errors, toast and success stand: they move and cover nothing that the visitor is about to use.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { animationsFinished, hydrated, openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startSite, type Site } from "../support/site.ts";

let database: TestDatabase;
let site: Site;
let page: WatchedPage;

beforeAll(async () => {
  database = await createTestDatabase();
  site = await startSite({
    env: { DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: "1000" },
  });
});

afterAll(async () => {
  await site.stop();
  await database.drop();
});

const phone = { width: 390, height: 844 };
const desktop = { width: 1440, height: 900 };
const button = () => page.locator("form button[type=submit]");
const field = (name: string) => page.locator(`#early-access-${name}`);
const question = () => page.locator(".suggestion");
const toast = () => page.locator("[data-sonner-toast][data-mounted=true][data-removed=false]");

async function openForm(viewport: typeof phone) {
  page = await openPage({ viewport, reducedMotion: "reduce" });
  await page.goto(`${site.url}/#early-access`);
  await hydrated(page);
  await page.evaluate(() => document.fonts.ready);
}

async function fill(email = "ada@example.com", company = "Engines") {
  await field("name").fill("Ada");
  await field("email").fill(email);
  await field("company").fill(company);
}

/** Returns the element's edges in the window. */
const edges = (selector: string) =>
  page.locator(selector).evaluate((element) => {
    const { top, bottom, left, right } = element.getBoundingClientRect();
    return { top, bottom, left, right };
  });

/** Returns the element's distance from the top of the document. */
const distance = (selector: string) =>
  page.locator(selector).evaluate((element) => Math.round(element.getBoundingClientRect().top + scrollY));

/** Returns the names of the fields and buttons of the form that the element covers, as far as they are in the window. */
const covered = (selector: string) =>
  page.locator(selector).evaluate((element) => {
    const bar = document.querySelector("header")?.getBoundingClientRect().bottom ?? 0;
    const over = element.getBoundingClientRect();
    return [...document.querySelectorAll<HTMLInputElement>("form .field input, form [type=submit]")]
      .filter((control) => {
        const { top, bottom, left, right } = control.getBoundingClientRect();
        const isOverlapped = Math.max(top, bar) < over.bottom && bottom > over.top;
        return isOverlapped && bottom > bar && left < over.right && right > over.left;
      })
      .map((control) => control.name || control.type);
  });

describe("the question about a mistyped address", () => {
  it.each([phone, desktop])("moves no field and covers none that follows ($width px)", async (viewport) => {
    await openForm(viewport);
    await fill("ada@gmial.com", "");
    const before = [await distance("#early-access-company"), await distance(".panel-words h2")];
    await field("company").focus();
    await question().waitFor();
    expect([await distance("#early-access-company"), await distance(".panel-words h2")]).toEqual(before);
    expect(await covered(".suggestion")).toEqual(viewport === phone ? ["name"] : []);
    expect((await edges(".suggestion")).bottom).toBeLessThanOrEqual((await edges("#early-access-email")).top);
  });

  it("does not cover the field before it while that has focus", async () => {
    await openForm(phone);
    await fill("ada@gmial.com");
    await field("company").focus();
    await question().waitFor();
    await field("name").focus();
    await question().waitFor({ state: "hidden" });
    await field("company").focus();
    await question().waitFor();
    expect(await covered(".suggestion")).toEqual(["name"]);
  });
});

describe("a rejected field", () => {
  it("has one error, and moves nothing in the other column", async () => {
    await openForm(desktop);
    await fill("ada@localhost", " ");
    const before = await distance(".panel-words h2");
    await button().click();
    await page.locator("#early-access-email-error").waitFor();
    expect(await distance(".panel-words h2")).toBe(before);
    expect(await page.locator("form").textContent()).not.toContain("Something went wrong");
    expect(await button().getAttribute("aria-describedby")).toBeNull();
  });

  it.each([320, 360, 390, 768, 1024, 1440])("has a toast that covers no field and no button (%i px)", async (width) => {
    await openForm({ width, height: 700 });
    await fill("ada@localhost", " ");
    await button().click();
    await toast().waitFor();
    await animationsFinished(page);
    expect(await covered("[data-sonner-toast]")).toEqual([]);
    // At every scroll position.
    const bar = await edges("header");
    const { top, bottom } = await edges("[data-sonner-toast]");
    expect(top).toBeGreaterThanOrEqual(0);
    expect(bottom).toBeLessThanOrEqual(bar.bottom);
  });
});

it("on a phone, the tick of the success is below the navigation bar, which its toast covers", async () => {
  await openForm(phone);
  await fill();
  await button().click();
  await page.locator(".tick").waitFor();
  await page.locator("#early-access-heading:focus").waitFor();
  const bar = await edges("header");
  expect((await edges(".tick")).top).toBeGreaterThan(bar.bottom);
  await toast().waitFor();
  await animationsFinished(page);
  expect((await edges("[data-sonner-toast]")).bottom).toBeLessThanOrEqual(bar.bottom);
});

it("the message after an undo disappears with the next attempt", async () => {
  await openForm(phone);
  await fill();
  await button().click();
  await page.getByRole("button", { name: "Wrong address? Undo" }).click();
  await page.locator(".undone").waitFor();
  await fill("ada@localhost");
  await button().click();
  await page.locator("#early-access-email-error").waitFor();
  expect(await page.locator(".undone").count()).toBe(0);
  await field("email").fill("ada@example.com");
  expect(await page.locator(".undone, .field-error").count()).toBe(0);
});

it.each(["light", "dark"] as const)("the sending button has the colours of a pressed one (%s)", async (colorScheme) => {
  page = await openPage({ colorScheme, reducedMotion: "reduce" });
  await page.goto(`${site.url}/#early-access`);
  await hydrated(page);
  await fill();
  await page.route("**/api/earlyaccess", () => undefined);
  await button().click();
  await page.getByRole("button", { name: "Joining...", disabled: true }).waitFor();
  const [sending, expected] = await button().evaluate((element) => {
    const { backgroundColor, color } = getComputedStyle(element);
    element.style.backgroundColor = "var(--leaf-strong)"; // tests/contrast.test.ts checks these two.
    element.style.color = "var(--on-leaf)";
    const own = getComputedStyle(element);
    return [
      [backgroundColor, color],
      [own.backgroundColor, own.color],
    ];
  });
  expect(sending).toEqual(expected);
});

it("a link from another page jumps to the form, and one in the page scrolls smoothly", async () => {
  page = await openPage({ viewport: desktop, reducedMotion: "no-preference" });
  await page.addInitScript(() => {
    const positions: number[] = [];
    Object.assign(globalThis, { positions });
    document.addEventListener("scroll", () => positions.push(scrollY));
  });
  const scrolled = () =>
    page.evaluate(async () => {
      const { positions } = globalThis as unknown as { positions: number[] };
      const section = document.getElementById("early-access") as HTMLElement;
      const target = () => scrollY + section.getBoundingClientRect().top;
      while (positions.length === 0 || section.getBoundingClientRect().top > innerHeight / 2) {
        await new Promise(requestAnimationFrame);
      }
      return positions.filter((position) => position < target() / 2).length;
    });
  await page.goto(`${site.url}/privacy`);
  await page.getByRole("banner").getByRole("link", { name: "Get Early Access" }).click();
  await page.waitForURL("**/#early-access");
  expect(await scrolled()).toBe(0);
  await page.goto(site.url);
  await page.locator("html.loaded").waitFor();
  await page.getByRole("banner").getByRole("link", { name: "Get Early Access" }).click();
  expect(await scrolled()).toBeGreaterThan(0);
});

it.each([320, 1440])("what a key reaches is a control, or scrolls (%i px)", async (width) => {
  page = await openPage({ viewport: { width, height: 700 } });
  await page.goto(site.url);
  const stops = page.locator("[tabindex='0']");
  const idle = await stops.evaluateAll(
    (elements) => elements.filter((element) => element.scrollWidth <= element.clientWidth).length,
  );
  expect(idle).toBe(0);
  for (const code of await page.locator(".code pre").all()) {
    expect(await code.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
  }
});
