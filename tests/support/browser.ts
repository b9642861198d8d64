// The browser and the sites of a test file, and pages that record their console messages and requests.
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, inject, onTestFinished } from "vitest";
import type { FieldName } from "../../client/shared/fields.ts";
import { signupPath } from "../../client/shared/paths.ts";
import { launchChromium } from "./chromium.ts";
import { fieldNamed } from "./copy.ts";
import { createTestDatabase } from "./database.ts";
import { ready, startSite } from "./site.ts";
import { openWire } from "./tcp-proxy.ts";

export interface WatchedPage extends Page {
  /** Console messages and uncaught errors, without debug messages, which browsers hide by default. */
  messages: string[];
  /** Method and URL of every request. */
  sentRequests: string[];
}

/** A page can change its motion and viewport while it is open; the others need a browser context of their own. */
type ContextOptions = Pick<BrowserContextOptions, "javaScriptEnabled" | "bypassCSP">;
type PageOptions = ContextOptions & Pick<BrowserContextOptions, "reducedMotion" | "viewport"> & { url?: string };

let browser: Promise<Browser> | undefined;
const idlePages = new Map<string, WatchedPage[]>();

afterAll(async () => {
  const closing = browser;
  browser = undefined; // Files of one project share this module.
  idlePages.clear();
  await (await closing)?.close();
});

/**
 * Opens a page, without motion unless the options say otherwise. When the test ends, the page leaves the site and waits for
 * the next test: a new browser context needs three times the processor time of a page load.
 */
export async function openPage(options: PageOptions = {}): Promise<WatchedPage> {
  const { url, viewport, reducedMotion = "reduce", ...contextOptions } = options;
  const key = JSON.stringify(contextOptions);
  const page = idlePages.get(key)?.pop() ?? (await newPage(contextOptions));
  Object.assign(page, { messages: [], sentRequests: [] });
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") return page.context().close();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.context().setOffline(false);
    // A page of the same site, because another one would need a new process.
    await page.goto(new URL("/robots.txt", page.url()).href).catch(() => undefined);
    await page.context().clearCookies();
    idlePages.set(key, [...(idlePages.get(key) ?? []), page]);
  });
  await page.emulateMedia({ colorScheme: "light", reducedMotion, forcedColors: "none", media: null });
  await page.setViewportSize(viewport ?? { width: 1280, height: 720 });
  if (url) await page.goto(url);
  return page;
}

async function newPage(options: ContextOptions): Promise<WatchedPage> {
  browser ??= launchChromium(inject("chromium"));
  const context = await (await browser).newContext(options);
  context.setDefaultTimeout(60_000);
  const page = (await context.newPage()) as WatchedPage;
  page.on("console", (message) => {
    if (message.type() !== "debug") page.messages.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => page.messages.push(`uncaught: ${error.message}`));
  page.on("request", (request) => page.sentRequests.push(`${request.method()} ${request.url()}`));
  return page;
}

/** Returns, in the page, whether React has hydrated the section with the form. */
const hasReact = () =>
  Object.keys(document.querySelector("#early-access > *") ?? {}).some((key) => key.startsWith("__reactProps"));

export const isHydrated = (page: Page) => page.evaluate(hasReact);

export const hydrated = (page: Page) => page.waitForFunction(hasReact);

/** Scrolls to the form, which starts the hydration, and waits for it. */
export async function hydrateForm(page: Page): Promise<void> {
  await page.locator("#early-access").scrollIntoViewIfNeeded();
  await hydrated(page);
}

/** Finds a field of the form by its label, as a screen reader does. */
export const formField = (page: Page, name: FieldName) => page.getByLabel(fieldNamed(name).label, { exact: true });

/** The product example in the hero, whose controls are not the form's. */
export const exampleOf = (page: Page) => page.locator(".demo");

/** Waits until every animation and transition has ended, except those that follow the scroll position. */
export async function animationsFinished(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (const { timeline, finished } of document.getAnimations()) if (timeline === document.timeline) await finished;
  });
}

/** Waits for the layout below the first screen, which ends sooner than anyone can scroll or press a key. */
export async function deferredLayoutFinished(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document.getAnimations().every((animation) => (animation as CSSAnimation).animationName !== "deferred-layout"),
  );
}

/** Sends the form to another site, as if this one had been restarted with other settings since the page was loaded. */
export async function sendFormTo(url: string, page: Page): Promise<void> {
  await page.route(`**${signupPath}`, async (route) => {
    const headers = { ...(await route.request().allHeaders()), origin: url, host: new URL(url).host };
    await route.fulfill({ response: await route.fetch({ url: url + signupPath, headers }) });
  });
}

/** Returns whether a console message reports a violation of the Content Security Policy. */
export const isViolation = (message: string) => /Content Security Policy|Trusted/.test(message);

/** Starts one site that is open and one whose list is closed, on a database of their own, until all tests of the file have ended. */
export async function createBrowserSites() {
  const database = await createTestDatabase();
  const wire = await openWire(database.webUrl);
  const env = {
    SIGNUP_LIMIT: "1000",
    CONTACT_EMAIL: "privacy@perennial.example",
  };
  const [open, closed] = await Promise.all([
    startSite({ env: { ...env, DATABASE_URL: wire.url(database.webUrl) } }),
    startSite({ env: { ...env, DATABASE_URL: database.webUrl, WAITLIST: "closed" } }),
  ]);
  await Promise.all([open, closed].map(ready));
  afterAll(async () => {
    await open.stop();
    await closed.stop();
    await wire.cut();
  });
  /** The wire is between the open site and Postgres. */
  return { database, wire, open, closed };
}
