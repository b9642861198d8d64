// Accessibility: axe in every state of the page, light and dark, and the keyboard.
import axe from "axe-core";
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { demo, earlyAccess, errorPage, footer, hero, navigation, pricing } from "../../client/shared/content.ts";
import { fields } from "../../client/shared/fields.ts";
import { control } from "../../client/early-access/field-input.tsx";
import {
  createBrowserSites,
  animationsFinished,
  exampleOf,
  formField,
  hydrated,
  isViolation,
  openPage,
  sendFormTo,
  type WatchedPage,
} from "../support/browser.ts";

const sites = await createBrowserSites();

/** Runs in the page. Returns a line for each violation in the elements, by default in the whole page. */
async function findViolations(elements: string[]): Promise<string[]> {
  const { axe: checker } = window as unknown as { axe: typeof axe };
  const { violations, incomplete } = await checker.run(elements.length > 0 ? { include: elements } : document, {
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    resultTypes: ["violations", "incomplete"],
  });
  // axe cannot judge single characters, nor what the toast or the question about an address covers.
  const hasOverlay = document.querySelector("[data-sonner-toast], .suggestion") !== null;
  const expected = new Set(["shortTextContent", ...(hasOverlay ? ["bgOverlap", "elmPartiallyObscuring"] : [])]);
  const undecided = incomplete
    .filter(({ id }) => id === "color-contrast")
    .flatMap(({ nodes }) => nodes)
    .filter(({ any }) => !expected.has(any[0]?.data?.messageKey as string))
    .map(({ html, any }) => `undecided contrast, ${any[0]?.data?.messageKey}: ${html}`);
  return [...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`), ...undecided];
}

/** Runs in the page. Returns the elements whose border, or outline with focus, has a contrast below 3 with what is behind them. */
function findFaint(selector: string): string[] {
  const line = selector.includes(":focus") ? "outlineColor" : "borderTopColor";
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
      const value = Number(part) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
  };
  const colourBehind = ({ parentElement }: Element): string => {
    const { backgroundColor } = getComputedStyle(parentElement ?? document.body);
    return backgroundColor === "rgba(0, 0, 0, 0)" && parentElement ? colourBehind(parentElement) : backgroundColor;
  };
  const isFaint = (element: Element) => {
    const [one, other] = [getComputedStyle(element)[line], colourBehind(element)].map(luminance) as [number, number];
    return Math.max(one, other) / Math.min(one, other) < 3;
  };
  return [...document.querySelectorAll(selector)].filter(isFaint).map(({ outerHTML }) => outerHTML);
}

async function fill(page: WatchedPage, email: string) {
  await page.goto(sites.open.url);
  await formField(page, "name").fill("Ada");
  await formField(page, "email").fill(email);
  await formField(page, "company").fill("Engines");
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
  await page.waitForURL("**/api/earlyaccess#*");
}

/** Waits until the toast is fully visible: while it fades in, its contrast is lower. It stays while the pointer is over it. */
async function toastShown(page: WatchedPage) {
  await page.locator("[data-sonner-toast][data-mounted=true]").waitFor();
  await page.locator("[data-sonner-toaster]").dispatchEvent("mouseover");
  await animationsFinished(page);
}

type Enter = (page: WatchedPage) => Promise<unknown>;

const pages: Record<string, Enter> = {
  "the landing page": (page) => page.goto(sites.open.url),
  "the privacy page": (page) => page.goto(`${sites.open.url}/privacy`),
  "the confirmation page": (page) => page.goto(`${sites.open.url}/confirm?token=${"a".repeat(32)}`),
  "the page of a closed list": (page) => page.goto(sites.closed.url),
  "the 404 page": (page) => page.goto(`${sites.open.url}/nope`),
};

const formStates: Record<string, Enter> = {
  "the form while it is sent": async (page) => {
    await page.route("**/api/earlyaccess", () => undefined);
    await submit(page, "ada@example.com");
    await page.getByRole("button", { name: earlyAccess.sending }).waitFor();
  },
  "a form with an error": async (page) => {
    await submit(page, "ada@localhost");
    await toastShown(page);
  },
  "the success message": async (page) => {
    await submit(page, "ada@example.com");
    await toastShown(page);
  },
  "the question about an address": async (page) => {
    await fill(page, "ada@gmial.com");
    await hydrated(page);
    await formField(page, "email").focus();
    await formField(page, "company").focus();
    await page.getByText(`${earlyAccess.didYouMean} ada@gmail.com?`).waitFor();
  },
  "the form after an undo": (page) => page.goto(`${sites.open.url}/?undone#early-access`),
  "the error summary of a plain form": (page) => submitPlain(page, "ada@localhost"),
  "the error message of a broken form": async (page) => {
    // The form reads this label only while React renders it in that state.
    await page.route("**/assets/hydrate-*.js", async (route) => {
      const response = await route.fetch();
      const code = await response.text();
      const body = code.replace(/sending:(["'`]).*?\1/, "get sending(){throw Error('boom')}");
      await route.fulfill({ response, body });
    });
    await submit(page, "ada@example.com");
    await page.getByRole("alert").getByRole("heading", { name: errorPage.heading }).waitFor();
    await page.getByText("boom").waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1 }).waitFor(); // The rest of the page stays.
  },
  "the answer of a list that closed meanwhile": async (page) => {
    await sendFormTo(sites.closed.url, page);
    await submitPlain(page, "ada@example.com");
  },
};

it.each([
  ...Object.entries(pages).map(([name, enter]) => [name, enter, []] as const),
  ...Object.entries(formStates).map(([name, enter]) => [name, enter, ["#early-access"]] as const),
])("%s has no violation that axe finds, light and dark", async (_, enter, elements) => {
  const page = await openPage({ viewport: { width: 360, height: 900 } });
  await enter(page);
  expect(page.messages.filter(isViolation)).toEqual([]);
  const toast = (await page.locator("[data-sonner-toast]").count()) > 0 ? ["[data-sonner-toaster]"] : [];
  await page.evaluate(axe.source);
  // axe does not judge the contrast of text over a drawn background.
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("*::before, *::after { display: none !important }");
    document.adoptedStyleSheets.push(sheet);
  });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: colorScheme === "light" ? 360 : 1280, height: 900 });
    await page.locator(".button").last().hover();
    expect(await page.evaluate(findViolations, [...elements, ...toast]), colorScheme).toEqual([]);
    expect(await page.evaluate(findFaint, `.field ${control}, .sentences input`), colorScheme).toEqual([]);
    const schemes = await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
    expect(schemes, "lists of options and scroll bars").toContain(colorScheme);
  }
  // By the HTML standard, a label that belongs to a field must not be hidden.
  expect(await page.locator("#root label[for][aria-hidden]").count()).toBe(0);
  // Safari drops the role of a list without markers.
  expect(await page.locator("#root :is(ul, ol):not([role=list], [aria-hidden=true] *)").count()).toBe(0);
});

const focused = (page: WatchedPage) =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    return element.getAttribute("name") ?? element.textContent?.trim() ?? "";
  });

/** Returns whether the focused element has no outline or a faint one, or the navigation bar or another element covers it. */
async function covered(page: WatchedPage): Promise<boolean> {
  if ((await page.evaluate(findFaint, "u:focus-within, :focus:not(u *)")).length > 0) return true;
  return page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    // The ring of a value of the sentence is around its words.
    const { outlineStyle, outlineWidth } = getComputedStyle(element.closest("u") ?? element);
    const isOutlined = outlineStyle === "solid" && Number.parseFloat(outlineWidth) >= 2;
    if (element === document.body || (isOutlined && element.closest("header"))) return false;
    const { left, top, width, height } = element.getBoundingClientRect();
    const topmost = document.elementFromPoint(left + width / 2, top + height / 2);
    return !isOutlined || !(topmost && (element.contains(topmost) || topmost.contains(element)));
  });
}

it("the keyboard reaches every control in order, forwards and backwards, nothing covers the focused one, and it signs up", async () => {
  const page = await openPage({ url: sites.open.url, viewport: { width: 360, height: 640 } });
  const seen: string[] = [];
  while (seen.at(-1) !== fields.at(-1)?.name) {
    await page.keyboard.press("Tab");
    seen.push(await focused(page));
    expect(await covered(page), seen.at(-1)).toBe(false);
  }
  expect(seen[0]).toBe(navigation.skip);
  expect(seen.slice(-fields.length)).toEqual(fields.map(({ name }) => name));
  await page.emulateMedia({ colorScheme: "dark" });
  for (const name of seen.slice(0, -1).toReversed()) {
    await page.keyboard.press("Shift+Tab");
    expect([await focused(page), await covered(page)]).toEqual([name, false]);
  }
  for (const [fragment, next] of [
    ["#content", hero.button],
    ["#early-access", "name"],
  ] as const) {
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/${fragment}`);
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe(next);
  }
  await page.keyboard.press("Shift+Tab");
  const texts: Record<string, string> = {
    name: "Grace",
    email: "grace@example.com",
    company: "Navy",
    job_title: "Admiral",
  };
  for (const { name } of fields) {
    await page.keyboard.press("Tab");
    await page.keyboard.type(texts[name] ?? "");
  }
  await page.keyboard.press("Tab"); // In a <select>, Enter sends nothing.
  await page.keyboard.press("Enter");
  await page.getByText(earlyAccess.success.title).first().waitFor();
  for (const text of [earlyAccess.success.undo, "name"]) {
    await page.keyboard.press("Tab");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([await focused(page), await covered(page)], colorScheme).toEqual([text, false]);
    }
  }
  expect(await sites.database.query("SELECT FROM earlyaccess WHERE name = 'Grace'")).toHaveLength(1);
});

it("after a link of the bar or a click on plain text, Tab leads to the next control", async () => {
  const page = await openPage({ url: sites.open.url, viewport: { width: 1280, height: 720 } });
  const bar = page.getByRole("navigation");
  const places: [Locator, next: string][] = [
    [bar.getByRole("link", { name: navigation.features }), "name"],
    [bar.getByRole("link", { name: navigation.pricing }), "name"],
    [bar.getByRole("link", { name: navigation.join }), "name"],
    [page.getByRole("heading", { level: 1 }), hero.button],
    [page.locator(".promise p").first(), "name"],
    [page.getByRole("heading", { name: pricing.plans[1]?.name as string }), "name"],
    [page.locator("#early-access-heading"), "name"],
    [page.locator(".next b").last(), footer.privacy],
  ];
  for (const [place, next] of places) {
    await place.click();
    await page.keyboard.press("Tab");
    expect(await focused(page), place.toString()).toBe(next);
  }
});

type Example = (typeof demo.examples)[number];

it("without JavaScript, the keyboard and the arrow of a sentence choose the next one, and each choice keeps its name", async () => {
  const page = await openPage({ url: sites.open.url, javaScriptEnabled: false });
  const [first, ...others] = demo.examples as [Example, ...Example[]];
  await exampleOf(page).getByRole("radio", { name: first.name, exact: true }).focus();
  for (const { title } of [...others, first]) {
    await page.keyboard.press("ArrowRight");
    const shown = page.locator(".demo :is(.segment-head b, .rule .chip)").filter({ visible: true });
    expect(await shown.allTextContents()).toEqual([title, title]);
  }
  for (const { name } of [...others, first]) {
    await page.locator(".send").filter({ visible: true }).click();
    expect(await exampleOf(page).getByRole("radio", { name, exact: true }).isChecked()).toBe(true);
  }
});
