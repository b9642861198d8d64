// The pages in development: their console, and hot reload of an edit of the sources without a manual reload.
import { basename } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isHydrated, isViolation, openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase } from "../support/database.ts";
import { startDevSite, type DevSite } from "../support/dev-site.ts";

/** In milliseconds; generous, because the machine may be busy. */
const timeout = 120_000;

let site: DevSite;

beforeAll(async () => {
  const database = await createTestDatabase();
  site = await startDevSite({ DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl });
}, timeout);

afterAll(() => site.remove());

/** Opens the landing page, whose form is too far away to start the hydration, and waits for the connection to Vite. */
async function openUnhydrated(): Promise<WatchedPage> {
  const page = await openPage();
  await Promise.all([
    page.waitForEvent("console", (message) => message.text() === "[vite] connected."),
    page.goto(site.url),
  ]);
  return page;
}

/** Opens the landing page, hydrates it and types a name, which an ordinary reload discards. */
async function openHydrated(): Promise<WatchedPage> {
  const page = await openUnhydrated();
  const hydrate = async () => {
    await page.getByLabel("Name").focus();
    return isHydrated(page);
  };
  // Again and again: a late reload after the edit of the test before starts the page anew.
  await expect.poll(() => hydrate().catch(() => false), { timeout }).toBe(true);
  await page.getByLabel("Name").fill("Ada");
  return page;
}

it(
  "the landing page in development hydrates without console messages and requests to other hosts",
  async () => {
    const page = await openHydrated();
    await page.waitForLoadState("networkidle");
    // React writes a message of its own.
    expect(page.messages.filter((text) => !/React DevTools/.test(text))).toEqual([]);
    expect(page.sentRequests.filter((request) => !request.includes(` ${site.url}`))).toEqual([]);
  },
  3 * timeout,
);

/** Whether the mark is in the page's heading or a custom property of it. */
const hasMark = (mark: string) => {
  const heading = document.querySelector("h1");
  if (!heading) return false; // The page is loading.
  const property = getComputedStyle(heading).getPropertyValue(`--${mark}`);
  return property !== "" || heading.textContent.includes(`${mark} `);
};

const edits: [string, string, string][] = [
  ["client/shared/content.ts", 'headline: "', "MARK "],
  ["client/sections/hero.tsx", "<h1>", 'MARK{" "}'],
  ["client/sections/hero.css", ".hero-text {", " --MARK: shown;"],
  ["client/entry-server.tsx", "head, body", ': body.replace("<h1>", "<h1>MARK ")'],
];
const serverEdit = ["server/views/page-cache.ts", "Buffer.from(html", '.replace("<h1>", "<h1>MARK ")'] as const;

it(
  "an edit of copy, component, stylesheet and server appears in every open page, and the client's edits keep the typed text",
  async () => {
    const pages = [await openHydrated(), await openUnhydrated()] as const;
    for (const [file, after, insertion] of [...edits, serverEdit]) {
      const isClient = file.startsWith("client/");
      const mark = `edited-${basename(file).replace(".", "-")}`;
      await site.edit(file, after, after + insertion.replace("MARK", mark));
      // Vite's watcher of a server that has just started may miss an edit: save again. Not the server's file: each save starts the server
      // again, which takes longer than the interval on a busy machine, and a page that loads meanwhile looks for Vite on a foreign port.
      const saving = setInterval(() => void (isClient && site.edit(file, mark, mark)), 20_000);
      for (const page of pages) await page.waitForFunction(hasMark, mark, { timeout });
      clearInterval(saving);
      if (isClient) await expect.poll(() => pages[0].getByLabel("Name").inputValue(), { timeout }).toBe("Ada");
    }
    expect(pages.flatMap(({ messages }) => messages).filter(isViolation)).toEqual([]);
  },
  5 * timeout,
);

it(
  "an edit that does not compile is reported in the terminal, and its correction appears",
  async () => {
    await site.edit("client/sections/hero.tsx", "<h1>", "<h1<>");
    const report = async () => {
      await fetch(site.url);
      return site.stderr();
    };
    await expect.poll(report, { timeout }).toMatch(/hero\.tsx:\d+/);
    await site.edit("client/sections/hero.tsx", "<h1<>", "<h1>");
    await expect.poll(async () => (await fetch(site.url)).status, { timeout }).toBe(200);
  },
  3 * timeout,
);
