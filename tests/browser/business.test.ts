// The business in the product example, which the visitor replaces by their own.
import { expect, it } from "vitest";
import { demo, earlyAccess, product } from "../../client/shared/content.ts";
import {
  createBrowserSites,
  formField,
  hydrateForm,
  isViolation,
  openPage,
  type WatchedPage,
} from "../support/browser.ts";

const sites = await createBrowserSites();

const business = (page: WatchedPage) => page.getByRole("textbox", { name: demo.businessLabel });
const hintOf = (page: WatchedPage) => page.getByText(demo.businessHint, { exact: true });
const company = (page: WatchedPage) => formField(page, "company");

/** Returns what the field, all places of the example, and the form's field show. */
async function read(page: WatchedPage) {
  const places = new Set(await page.locator(".business").allTextContents());
  return [await business(page).inputValue(), ...places, await company(page).inputValue()];
}

async function openEditable(page: WatchedPage) {
  await page.goto(sites.open.url);
  await page.locator(".business-input :read-write").waitFor();
}

/** Returns the families of the fonts in which the browser draws the business. */
async function drawnFamilies(page: WatchedPage) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("DOM.enable");
  await devtools.send("CSS.enable");
  const { root } = await devtools.send("DOM.getDocument");
  const { nodeId } = await devtools.send("DOM.querySelector", { nodeId: root.nodeId, selector: ".sms .business" });
  const { fonts } = await devtools.send("CSS.getPlatformFontsForNode", { nodeId });
  await devtools.detach();
  return [...new Set(fonts.map(({ familyName }) => familyName))];
}

it("letters that the page's texts lack have its font, of which a browser fetches a file when somebody types its first one", async () => {
  const page = await openPage({ url: `${sites.open.url}/privacy` });
  const files = () => page.sentRequests.filter((request) => request.endsWith(".woff2")).length;
  const fontsLoaded = () => page.evaluate(() => document.fonts.ready.then(() => undefined));
  await fontsLoaded();
  expect(files()).toBe(1);
  page.sentRequests = [];
  await openEditable(page);
  await fontsLoaded();
  expect(files()).toBe(1);
  const display = () => [...document.fonts].find(({ family }) => family === "Familjen")?.display;
  expect(await page.evaluate(display)).toBe("swap"); // Text is not invisible until the font arrives.
  const brand = await drawnFamilies(page);
  expect(brand).toHaveLength(1);
  for (const [part, names] of [
    ["latin", ["Böhm & Söhne", "Mu\u0308ller", "A–Z™ · 100%®", "Œuvre, Diyarbakır"]],
    ["latin-ext", ["Čapek", "STRAẞE", "Şişli ₺"]],
    ["vietnamese", ["Phở Ẩm"]],
  ] as const) {
    const requested = page.waitForRequest(new RegExp(`familjen-grotesk-${part}-wght-.*\\.woff2$`));
    for (const name of names) {
      await business(page).fill(name);
      await requested;
      await fontsLoaded();
      expect(await drawnFamilies(page), name).toEqual(brand);
    }
  }
  expect(files()).toBe(4);
});

it("the typed business stands in sender, SMS, campaign mail and Company, and the emptied field brings the first one back", async () => {
  const page = await openPage({ viewport: { width: 1440, height: 800 } });
  await openEditable(page);
  expect(await read(page)).toEqual([demo.business, demo.business, ""]);
  expect(await page.locator(".email .business, .messages .business, .sms .business").count()).toBe(8);
  const sent = () => page.sentRequests.filter((request) => !request.endsWith(".woff2")).length;
  const before = sent();
  await page.locator(".business-input .icon").click();
  await page.keyboard.type("Rosa's <b>Bikes</b>"); // In place of the first name.
  expect(await read(page)).toEqual(Array(3).fill("Rosa's <b>Bikes</b>"));
  expect(sent()).toBe(before);
  await business(page).blur();
  await business(page).focus();
  await page.keyboard.type("!"); // The visitor's own name stays.
  expect((await read(page))[1]).toHaveLength("Rosa's <b>Bikes</b>!".length);
  await business(page).fill(" ");
  expect(await read(page)).toEqual([" ", demo.business, ""]);
  await business(page).blur();
  expect(await read(page)).toEqual([demo.business, demo.business, ""]);
  expect(page.messages.filter(isViolation)).toEqual([]);
  const lines = await page.evaluate(() => {
    const lineOf = (element: Element, part?: string) => {
      const { borderBottomStyle, borderBottomColor } = getComputedStyle(element, part);
      return `${borderBottomStyle} ${borderBottomColor}`;
    };
    const features = Array.from(document.querySelectorAll(".features .business"), (place) => lineOf(place));
    return { features, hero: lineOf(document.querySelector(".email u") as Element, "::after") };
  });
  expect(new Set(lines.features), "the line of the hero").toEqual(new Set([lines.hero]));
});

it("a click into the first name begins a new one where a browser drops the selection at the end of the click, and leaving brings it back", async () => {
  const page = await openPage();
  await openEditable(page);
  // As Safari does.
  await business(page).evaluate((input: HTMLInputElement) =>
    input.addEventListener("mouseup", () => input.setSelectionRange(8, 8)),
  );
  await business(page).click();
  const hint = await business(page).getAttribute("placeholder");
  expect([hint, ...(await read(page))]).toEqual([demo.business, "", demo.business, ""]);
  await business(page).blur();
  expect(await read(page)).toEqual([demo.business, demo.business, ""]);
  await business(page).click();
  await page.keyboard.type("Rosa");
  expect(await read(page)).toEqual(["Rosa", "Rosa", "Rosa"]);
});

it("a hint in the field's label says that the business can be changed, until the visitor has typed", async () => {
  const page = await openPage();
  await openEditable(page);
  for (const width of [320, 390, 768, 1024, 1152, 1280, 1366, 1440, 2560]) {
    await page.setViewportSize({ width, height: 800 });
    const lines = await hintOf(page).evaluate((element) => {
      const text = document.createRange();
      text.selectNodeContents(element);
      return text.getClientRects().length;
    });
    const isCut = await business(page).evaluate((input) => input.scrollWidth > input.clientWidth);
    expect({ lines, isCut }, `at ${width} px`).toEqual({ lines: 1, isCut: false });
  }
  await hintOf(page).click();
  expect([await business(page).evaluate((input) => input.matches(":focus")), await hintOf(page).isVisible()]).toEqual([
    true,
    false,
  ]);
  await business(page).blur();
  expect(await hintOf(page).isVisible()).toBe(true);
  await business(page).fill("Rosa");
  await business(page).blur();
  expect(await hintOf(page).isVisible()).toBe(false);
});

it.each(["\u200B", "\u2060 \uFE0F", "\u3164"])("a business that nobody can see (%j) is none", async (invisible) => {
  const page = await openPage();
  await openEditable(page);
  await business(page).fill(invisible);
  expect(await read(page)).toEqual([invisible, demo.business, ""]);
  await business(page).blur();
  expect(await read(page)).toEqual([demo.business, demo.business, ""]);
  await company(page).fill("Engines");
  await business(page).fill(invisible);
  expect(await company(page).inputValue()).toBe("Engines");
});

it("a megabyte that is pasted into the business is cut, and its field measures what is shown", async () => {
  const page = await openPage();
  await openEditable(page);
  await business(page).focus();
  await page.keyboard.insertText("e\u0301".repeat(500_000));
  const measured = await page.locator(".business-input").getAttribute("data-name");
  expect(await read(page)).toEqual(["e\u0301".repeat(100), `${"é".repeat(39)}…`, "é".repeat(100)]);
  expect(measured).toBe(`${"é".repeat(39)}…`);
});

it("a browser that translates leaves the business and the brand as they are", async () => {
  const page = await openPage({ url: sites.open.url });
  const texts = page.locator("[translate=no]");
  expect(new Set(await texts.allTextContents())).toEqual(new Set(["", demo.business, product.name]));
  expect(await page.locator(".business:not([translate=no]), .business-input input:not([translate=no])").count()).toBe(
    0,
  );
});

it("Company keeps what the visitor typed there, follows again once it is empty, and has a line as long as it follows", async () => {
  const page = await openPage();
  await openEditable(page);
  const line = () => company(page).evaluate((input) => getComputedStyle(input).boxShadow);
  const without = await line();
  for (const own of ["Engines", "Rosa's Bikes Ltd."]) {
    await company(page).fill(own);
    await business(page).fill("Rosa's Bikes");
    await business(page).fill("");
    expect([await company(page).inputValue(), await line()]).toEqual([own, without]);
    await company(page).fill("");
    await business(page).fill("Rosa");
    expect(await company(page).inputValue()).toBe("Rosa");
    expect(await line()).not.toBe(without);
    await company(page).press("End");
    await page.keyboard.type("s");
    expect([await company(page).inputValue(), await line()]).toEqual(["Rosas", without]);
  }
});

it("a business that is typed before the hydration is in the sign-up, and the example keeps it beside the empty form", async () => {
  const page = await openPage();
  await page.route("**/hydrate-*.js", async (route) => {
    await business(page).fill("Rosa's Bikes");
    await route.continue();
  });
  await page.goto(sites.open.url);
  await hydrateForm(page);
  expect(await read(page)).toEqual(Array(3).fill("Rosa's Bikes"));
  await formField(page, "name").fill("Rosa");
  await formField(page, "email").fill("rosa@example.com");
  await page.locator(".form [type=submit]").click();
  await page.getByRole("heading", { name: earlyAccess.success.title }).waitFor();
  expect(await read(page)).toEqual(["Rosa's Bikes", "Rosa's Bikes", ""]);
  expect(await sites.database.query("SELECT company FROM earlyaccess")).toEqual([{ company: "Rosa's Bikes" }]);
});

it("after Back, the example shows what its field shows, and Company keeps what the browser restores", async () => {
  const page = await openPage();
  await openEditable(page);
  await business(page).fill("Rosa's Bikes");
  await page.goto(`${sites.open.url}/privacy`);
  await page.goBack();
  await hydrateForm(page);
  const [field = "", ...rest] = await read(page);
  expect(rest).toEqual([field, "Rosa's Bikes"]);
  await business(page).fill("Ada's Engines");
  expect(await read(page)).toEqual(["Ada's Engines", "Ada's Engines", "Rosa's Bikes"]);
});

it("at each width, typing moves nothing in the example, and on a phone the name stands near the field", async () => {
  const page = await openPage();
  await openEditable(page);
  for (const width of [320, 390, 480, 768, 1023, 1024, 1152, 1280, 1440, 2560]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await page.evaluate(findMoved), `at ${width} px`).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  const name = page.locator(".segment-head .business").filter({ visible: true });
  const [field, place] = await Promise.all([business(page).boundingBox(), name.boundingBox()]);
  expect((place?.y ?? Infinity) - (field?.y ?? 0) - (field?.height ?? 0)).toBeLessThanOrEqual(150);
});

/** Runs in the page. Types names of 1 to 40 letters, and returns what has another box with one of them. */
function findMoved(): string[] {
  const input = document.querySelector(".business-input input") as HTMLInputElement;
  const parts = ".choices, .tag, .sentences label, .composer, .segment, .chip, table, .rule, .email, b, .email-button";
  const boxes = () =>
    Array.from(document.querySelectorAll(`.demo :is(${parts})`), (element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return `${element.tagName}.${element.className} ${x} ${y} ${width} ${height}`;
    });
  const before = boxes();
  const moved = new Set<string>();
  const names = Array.from({ length: 40 }, (_, i) => "W".repeat(i + 1));
  for (const name of [...names, "Müller & Söhne", "شركة الزهور الجميلة", "🚲".repeat(40)]) {
    input.value = name;
    input.dispatchEvent(new Event("input"));
    for (const [i, box] of boxes().entries()) if (box !== before[i]) moved.add(`${before[i]} with ${name}`);
  }
  input.value = input.defaultValue;
  input.dispatchEvent(new Event("input"));
  return [...moved];
}

it.each([320, 390, 1440])(
  "at %d px, the field is as wide as its text, and the example shows at most 40 characters",
  async (width) => {
    const page = await openPage({ viewport: { width, height: 800 } });
    await openEditable(page);
    const sizes = () =>
      business(page).evaluate((input: HTMLInputElement) => [input.scrollWidth, input.clientWidth, input.offsetHeight]);
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth);
    for (const name of ["R", "Larkfield Coffee", "WOOLWORTHS", "שלום חברה"]) {
      await business(page).fill(name);
      const [textWidth, fieldWidth, height] = await sizes();
      expect([textWidth, height, await overflow()], name).toEqual([fieldWidth, 44, width]);
    }
    for (const [typed, shown] of [
      ["🚲".repeat(40), "🚲".repeat(40)],
      ["🚲".repeat(41), `${"🚲".repeat(39)}…`],
    ] as const) {
      await business(page).fill(typed);
      expect([await read(page), await overflow()]).toEqual([[typed, shown, typed], width]);
    }
  },
);

it("without JavaScript, the business is read-only and has no pencil and no hint, and neither a form nor a password manager takes the field", async () => {
  const page = await openPage({ url: sites.open.url, javaScriptEnabled: false });
  expect(await business(page).isEditable()).toBe(false);
  expect([await page.locator(".business-input .icon").isVisible(), await hintOf(page).isVisible()]).toEqual([
    false,
    false,
  ]);
  const attributes = ["name", "autocomplete", "dir"].map((name) => business(page).getAttribute(name));
  expect(await Promise.all(attributes)).toEqual([null, "off", "auto"]);
  expect(await page.locator(".field input:not([dir=auto])").count()).toBe(0);
});
