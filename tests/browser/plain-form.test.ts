// The form in a browser without JavaScript.
import { beforeEach, expect, it } from "vitest";
import { earlyAccess, fieldErrors, formFailure, meta, privacyPage } from "../../client/shared/content.ts";
import { createBrowserSites, openPage, type WatchedPage } from "../support/browser.ts";
import { fieldNamed } from "../support/copy.ts";

const sites = await createBrowserSites();
let page: WatchedPage;

beforeEach(async () => {
  await sites.database.query("TRUNCATE earlyaccess");
  page = await openPage({ url: sites.open.url, javaScriptEnabled: false });
});

const inputs = () => ["name", "email", "company", "job_title"].map((name) => page.locator(`form [name=${name}]`));
const values = () => Promise.all(inputs().map((input) => input.inputValue()));
const campaign = { utm_source: "news", utm_medium: "mail", utm_campaign: "first", utm_term: 'a"b', utm_content: "top" };
const columns = Object.keys(campaign);
const entries = () => sites.database.query(`SELECT name, email, ${columns.join()} FROM earlyaccess`);
const entry = { name: "Zoë 🚀", email: "ada@example.com", ...Object.fromEntries(columns.map((name) => [name, null])) };
const focused = () => page.locator(":focus");

async function submit(texts = ["Zoë 🚀", "ada@example.com", "Engines", "Engineer"]) {
  for (const [i, input] of inputs().entries()) await input.fill(texts[i] ?? "");
  const loaded = page.waitForEvent("load");
  await page.getByRole("button", { name: earlyAccess.button }).click();
  await loaded;
}

it("a plain form joins, shows the success message beside an empty form, and can be undone after a reload", async () => {
  await submit();
  expect(page.url()).toMatch(/\/\?joined&undo=[\da-f]{32}#early-access$/);
  await page.keyboard.press("Tab");
  expect(await focused().textContent()).toBe(earlyAccess.success.undo);
  const section = await page.locator("#early-access").textContent();
  expect(section).toContain(earlyAccess.success.title);
  expect(section).toContain(earlyAccess.success.text);
  expect(await entries()).toEqual([entry]);
  await page.reload();
  await page.getByRole("button", { name: earlyAccess.success.undo }).click();
  expect(page.url()).toBe(`${sites.open.url}/?undone#early-access`);
  await page.getByText(earlyAccess.undone).waitFor();
  expect(await entries()).toEqual([]);
  await submit();
  expect(await entries()).toEqual([entry]);
  expect(await values()).toEqual(["", "", "", ""]);
  await submit(["Grace", "grace@example.com", "Navy", ""]);
  expect(await entries()).toHaveLength(2);
  expect(page.messages).toEqual([]);
});

it("an invalid plain form gets an error summary in view, with focus and links to the fields, and keeps the campaign", async () => {
  const invalid = ["Ada", "ada@localhost", " ", ""];
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${sites.open.url}/?${new URLSearchParams(campaign)}`);
  await submit(invalid);
  expect(await page.title()).toBe(meta.errorPrefix + meta.landing.title);
  expect(await values()).toEqual(invalid);
  expect(await focused().textContent()).toBe(
    formFailure.heading(2) + fieldErrors.email + fieldErrors.required(fieldNamed("company").noun),
  );
  expect(page.url().split("#")[1]).toBe(await focused().getAttribute("id"));
  const links = focused().getByRole("link");
  expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute("href")))).toEqual([
    "#early-access-email",
    "#early-access-company",
  ]);
  const wrong = page.locator("form [aria-invalid=true]");
  expect(await wrong.evaluateAll((all) => all.map((input) => input.getAttribute("aria-describedby")))).toEqual([
    "early-access-email-error",
    "early-access-company-error",
  ]);
  const summary = await focused().boundingBox();
  const bar = (await page.locator("header").boundingBox())?.height ?? Infinity;
  expect(summary?.y).toBeGreaterThanOrEqual(bar);
  expect((summary?.y ?? 0) + (summary?.height ?? 0)).toBeLessThanOrEqual(844);
  await page.getByRole("link", { name: fieldErrors.email }).click();
  expect(await focused().getAttribute("name")).toBe("email");
  const label = await page.locator("label", { hasText: fieldNamed("email").label }).boundingBox();
  expect(label?.y).toBeGreaterThanOrEqual(bar);
  await submit();
  expect(await entries()).toEqual([{ ...entry, ...campaign }]);
});

it("Back from the privacy page shows a refused plain form again, with what the visitor typed", async () => {
  const invalid = ["Ada", "ada@localhost", "Engines", "Engineer"];
  await submit(invalid);
  await page.locator(".form").getByRole("link", { name: earlyAccess.privacyLink }).click();
  await page.getByRole("heading", { name: privacyPage.heading }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: fieldErrors.email }).waitFor();
  expect(await values()).toEqual(invalid);
});

it.each(["none", "active"] as const)(
  "an invalid field of the plain form looks like a refused one where the browser says nothing, with forced colours %s",
  async (forcedColors) => {
    await page.emulateMedia({ forcedColors });
    const email = page.locator("form [name=email]");
    const look = () =>
      email.evaluate((input) => {
        const { borderColor, borderWidth, backgroundColor } = getComputedStyle(input);
        return { borderColor, borderWidth, backgroundColor };
      });
    const before = await look();
    await email.fill("ada@");
    await email.press("Enter");
    await page.locator("form [name=company]").focus();
    const refused = await look();
    expect(refused).not.toEqual(before);
    await submit(["Ada", "ada@localhost", "Engines", ""]);
    await email.and(page.locator("[aria-invalid]")).waitFor();
    await page.locator("form [name=company]").focus();
    expect(await look()).toEqual(refused);
  },
);
