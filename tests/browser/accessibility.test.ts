// Accessibility: axe in every state of the page, light and dark, and the keyboard.
import axe from "axe-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  animationsFinished,
  breakSending,
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
  [site, closedSite] = await Promise.all([
    startSite({ env }),
    startSite({ env: { ...env, WAITLIST: "closed", CONTACT_EMAIL: "privacy@perennial.example" } }),
  ]);
});

afterAll(async () => {
  await site.stop();
  await closedSite.stop();
  await database.drop();
});

/** Runs in the page. Returns a line for each violation in the elements, by default in the whole page. */
async function findViolations(elements: string[]): Promise<string[]> {
  const { axe: checker } = window as unknown as { axe: typeof axe };
  const { violations, incomplete } = await checker.run(elements.length > 0 ? { include: elements } : document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    resultTypes: ["violations", "incomplete"],
  });
  // The toast lies over the navigation bar, and the question over a label. axe cannot judge what they cover, nor their own
  // text over it; tests/contrast.test.ts has their colours. A toast may be gone after the check.
  const overlays = [...document.querySelectorAll("[data-sonner-toast], .suggestion")].map((element) =>
    element.getBoundingClientRect(),
  );
  const isCovered = (selector: string) => {
    const { top, bottom, left, right } = (document.querySelector(selector) as Element).getBoundingClientRect();
    return overlays.some((over) => top < over.bottom && bottom > over.top && left < over.right && right > over.left);
  };
  const undecided = incomplete
    .filter(({ id }) => id === "color-contrast")
    .flatMap(({ nodes }) => nodes)
    .map(({ html, any, target }) => ({ html, reason: any[0]?.data?.messageKey as string, target: target[0] as string }))
    .filter(({ reason }) => reason !== "shortTextContent")
    .filter(({ reason, target }) => !(["bgOverlap", "elmPartiallyObscuring"].includes(reason) && isCovered(target)))
    .map(({ html, reason }) => `undecided contrast, ${reason}: ${html}`);
  return [...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`), ...undecided];
}

async function expectNoViolations(page: WatchedPage, elements: string[]) {
  await page.evaluate(axe.source);
  // axe does not judge the contrast of text over a drawn background.
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("*::before, *::after { display: none !important }");
    document.adoptedStyleSheets.push(sheet);
  });
  for (const [colorScheme, width] of [
    ["light", 360],
    ["dark", 1280],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate(findViolations, elements), `${colorScheme}, ${width} px`).toEqual([]);
  }
  // Safari drops the role of a list without markers.
  expect(await page.locator("#root :is(ul, ol):not([role=list], [aria-hidden=true] *)").count()).toBe(0);
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

async function submitPlain(page: WatchedPage, email: string) {
  await page.route("**/assets/*.js", (route) => route.abort());
  await fill(page, email);
  await page.locator("form button").click();
  await page.waitForURL("**/api/earlyaccess");
}

/** Waits until the toast is fully visible: while it fades in, its contrast is lower. It stays while the pointer is over it. */
async function toastShown(page: WatchedPage) {
  await page.locator("[data-sonner-toast][data-mounted=true]").waitFor();
  await page.locator("[data-sonner-toaster]").dispatchEvent("mouseover");
  await animationsFinished(page);
}

type Enter = (page: WatchedPage) => Promise<unknown>;

/** Of no entry. */
const token = "A".repeat(22);

const pages: Record<string, Enter> = {
  "landing page, answers open": async (page) => {
    await page.goto(site.url);
    for (const summary of await page.locator("summary").all()) await summary.click();
  },
  "privacy page": (page) => page.goto(`${site.url}/privacy`),
  "confirmation page": (page) => page.goto(`${site.url}/confirm?token=${token}`),
  "left the list": async (page) => {
    await page.goto(`${site.url}/leave?token=${token}`);
    await page.getByRole("button").click();
    await page.getByRole("heading", { name: "Goodbye" }).waitFor();
  },
  closed: (page) => page.goto(closedSite.url),
  "404 page": (page) => page.goto(`${site.url}/nope`),
};

const formStates: Record<string, Enter> = {
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
  "errors without JavaScript": (page) => submitPlain(page, "ada@localhost"),
  "mistyped address without JavaScript": (page) => submitPlain(page, "ada@gmial.com"),
  "error message of a broken form": async (page) => {
    await breakSending(page);
    await submit(page, "ada@example.com");
    await page.getByRole("heading", { name: "Unexpected Application Error!" }).waitFor();
  },
  "closed and undone": (page) => page.goto(`${closedSite.url}/?undone#early-access`),
  "closed since the page was loaded": async (page) => {
    await sendFormTo(closedSite.url, page);
    await submit(page, "ada@example.com");
    await toastShown(page);
  },
  "closed since the page was loaded, without JavaScript": async (page) => {
    await sendFormTo(closedSite.url, page);
    await submitPlain(page, "ada@example.com");
  },
};

it.each([
  ...Object.entries(pages).map(([name, enter]) => [name, enter, []] as const),
  ...Object.entries(formStates).map(([name, enter]) => [name, enter, ["#early-access"]] as const),
])("axe finds no violation, light and dark, in the state: %s", async (_, enter, elements) => {
  const page = await openPage({ viewport: { width: 360, height: 900 } });
  await enter(page);
  const toast = (await page.locator("[data-sonner-toast]").count()) > 0 ? ["[data-sonner-toaster]"] : [];
  await expectNoViolations(page, [...elements, ...toast]);
});

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

it("the keyboard reaches every control in order, forwards and backwards, and nothing covers the focused one", async () => {
  const page = await openPage({ viewport: { width: 360, height: 640 } });
  await page.goto(site.url);
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
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.id)).toBe("content");
});

it.each([true, false])("the keyboard chooses a sentence of the example (JavaScript: %s)", async (javaScriptEnabled) => {
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

it("the keyboard is enough to sign up", async () => {
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
