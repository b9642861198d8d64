// Hot reload in development: an open page shows an edit of the sources without a manual reload.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isHydrated, isViolation, openPage, type WatchedPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { startDevSite, type DevSite } from "../support/dev-site.ts";

/** In milliseconds; generous, because the machine may be busy. */
const timeout = 120_000;

let database: TestDatabase;
let site: DevSite;

beforeAll(async () => {
  database = await createTestDatabase();
  site = await startDevSite({ DATABASE_URL: database.webUrl, DATABASE_OWNER_URL: database.ownerUrl });
}, timeout);

afterAll(async () => {
  await site.remove();
  await database.drop();
});

/** Opens the landing page, whose form is too far away to start the hydration, and waits for the connection to Vite. */
async function openUnhydrated(): Promise<WatchedPage> {
  const page = await openPage({ viewport: { width: 1280, height: 720 } });
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

/** Waits until the page, which may have been reloaded, has the typed name again. */
async function expectTypedName(page: WatchedPage) {
  await expect.poll(() => page.getByLabel("Name").inputValue(), { timeout }).toBe("Ada");
}

/** Fails if a page reported a violation of the Content Security Policy. */
function expectNoViolation(...pages: WatchedPage[]) {
  expect(pages.flatMap(({ messages }) => messages).filter(isViolation)).toEqual([]);
}

/** An edit of a source file: inserts a mark after a text. */
interface Edit {
  file: string;
  after: string;
  insert: (mark: string) => string;
}

const copy: Edit = { file: "client/shared/content.ts", after: 'headline: "', insert: (mark) => `${mark} ` };
const component: Edit = { file: "client/sections/hero.tsx", after: "<h1>", insert: (mark) => `${mark}{" "}` };
const stylesheet: Edit = {
  file: "client/sections/hero.css",
  after: ".hero-text {",
  insert: (mark) => ` --${mark}: shown;`,
};
const serverModule: Edit = {
  file: "server/views/prerendered-pages.ts",
  after: "const { status, html } = await rendered;",
  insert: (mark) =>
    `if (status === 200) return cacheResponse({ identity: Buffer.from(html.replace("<title>", "<title>${mark} ")) }, status, htmlType);`,
};

let edits = 0;

/** Makes the edit and returns its mark. */
async function make({ file, after, insert }: Edit): Promise<string> {
  const mark = `edit-${++edits}`;
  await site.edit(file, after, after + insert(mark));
  return mark;
}

/** Waits until the page has the mark in its title, its heading or a custom property of its heading. */
async function expectShown(mark: string, page: WatchedPage) {
  const hasMark = (wanted: string) => {
    const heading = document.querySelector("h1");
    if (!heading) return false; // The page is loading.
    const property = getComputedStyle(heading).getPropertyValue(`--${wanted}`);
    return property !== "" || `${document.title} ${heading.textContent}`.includes(`${wanted} `);
  };
  await page.waitForFunction(hasMark, mark, { timeout });
}

describe.each([
  ["the copy", copy],
  ["a component", component],
  ["the stylesheet", stylesheet],
])("an edit of %s", { timeout: 3 * timeout }, (_, edit) => {
  // This test comes first, because no browser may have loaded the module yet.
  it("appears in a page that is not hydrated", async () => {
    const page = await openUnhydrated();
    await expectShown(await make(edit), page);
    expectNoViolation(page);
  });

  it("appears in a hydrated page, which keeps the typed text", async () => {
    const page = await openHydrated();
    await expectShown(await make(edit), page);
    await expectTypedName(page);
    expectNoViolation(page);
  });

  it("appears in a page that is not hydrated while a hydrated one is open", async () => {
    const pages = [await openHydrated(), await openUnhydrated()] as const;
    const mark = await make(edit);
    for (const page of pages) await expectShown(mark, page);
    expectNoViolation(...pages);
  });
});

it("an edit of the copy changes the head of the page", { timeout: 3 * timeout }, async () => {
  await site.edit("client/shared/content.ts", 'name: "Perennial"', 'name: "Edited name"');
  const page = async () => (await fetch(site.url)).text();
  await expect.poll(page, { timeout }).toContain('<meta property="og:site_name" content="Edited name">');
});

it("an edit of the server restarts the server and reloads the pages", { timeout: 3 * timeout }, async () => {
  const pages = [await openHydrated(), await openUnhydrated()] as const;
  const mark = await make(serverModule);
  for (const page of pages) await expectShown(mark, page);
  expectNoViolation(...pages);
});
