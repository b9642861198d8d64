// The pages in development: their console, and hot reload of an edit of the sources without a manual reload.
import { afterAll, beforeAll, expect, it } from "vitest";
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
  file: "server/views/page-cache.ts",
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

// This test comes first, because no browser may have loaded the component's module yet.
it("an edit appears in a page that is not hydrated while no other is open", { timeout: 3 * timeout }, async () => {
  const page = await openUnhydrated();
  const mark = await make(component);
  // The watcher of a server that has just started may miss an edit: save again.
  const saving = setInterval(() => void site.edit(component.file, mark, mark), 5_000);
  await expectShown(mark, page).finally(() => clearInterval(saving));
  expectNoViolation(page);
});

it(
  "the landing page in development hydrates without console messages and requests to other hosts",
  { timeout },
  async () => {
    const page = await openHydrated();
    await page.waitForLoadState("networkidle");
    // React writes a message of its own.
    expect(page.messages.filter((text) => !/React DevTools/.test(text))).toEqual([]);
    expect(page.sentRequests.filter((request) => !request.includes(` ${site.url}`))).toEqual([]);
  },
);

it.each([
  ["the copy", copy],
  ["a component", component],
  ["the stylesheet", stylesheet],
])(
  "an edit of %s appears in every open page, and a hydrated one keeps the typed text",
  { timeout: 3 * timeout },
  async (_, edit) => {
    const pages = [await openHydrated(), await openUnhydrated()] as const;
    const mark = await make(edit);
    for (const page of pages) await expectShown(mark, page);
    await expectTypedName(pages[0]);
    expectNoViolation(...pages);
  },
);

it("an edit of the server restarts the server and reloads the pages", { timeout: 3 * timeout }, async () => {
  const pages = [await openHydrated(), await openUnhydrated()] as const;
  const mark = await make(serverModule);
  for (const page of pages) await expectShown(mark, page);
  expectNoViolation(...pages);
});
