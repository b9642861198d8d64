// A real browser, and pages that remember what they logged and asked for.
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { inject } from "vitest";
import { signupPath } from "../../client/addresses.ts";
import { launchChromium } from "./chromium.ts";
import { keepSent } from "./sent.ts";

export interface WatchedPage extends Page {
  /** Console messages and uncaught errors. */
  complaints: string[];
  /** Method and address of every request. */
  sent: string[];
}

export function launchBrowser(...more: string[]): Promise<Browser> {
  return launchChromium(inject("chromium"), ...more);
}

/** Makes the form's button throw while it is rendered for sending: the word for it is needed only then. */
export async function breakSending(page: Page): Promise<void> {
  await page.route("**/assets/hydrate-*.js", async (route) => {
    const response = await route.fetch();
    const code = await response.text();
    await route.fulfill({
      response,
      body: code.replace(/sending:(["`])Joining\.\.\.\1/, "get sending(){throw Error('boom')}"),
    });
  });
}

/** A page in a context of its own: no cookies, cache or storage of another test. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = Object.assign(await context.newPage(), { complaints: [] as string[], sent: [] as string[] });
  page.on("console", (message) => page.complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => page.complaints.push(`uncaught: ${error.message}`));
  page.on("request", (request) => page.sent.push(`${request.method()} ${request.url()}`));
  page.on("request", (request) => {
    if (new URL(request.url()).pathname === signupPath) keepSent(request.postData());
  });
  return page;
}

/** Waits until React has taken over the page. */
export async function hydrated(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    Object.keys(document.getElementById("root") as object).some((key) => key.startsWith("__reactContainer")),
  );
}

/** Returns whether a console message reports a violation of the Content Security Policy. */
export const isViolation = (complaint: string) => /Content Security Policy|Trusted/.test(complaint);
