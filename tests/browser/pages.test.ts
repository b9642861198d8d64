// The built pages in a browser: requests, console messages, cookies, the 404 page and a link that failed.
import { expect, it } from "vitest";
import { errorPage, linkPages, linkPagesHome, notFound } from "../../client/shared/content.ts";
import { pages } from "../../client/routes.tsx";
import { createBrowserSites, formField, hydrateForm, openPage, type WatchedPage } from "../support/browser.ts";
import { decodeHtml, pageTitle } from "../support/copy.ts";

const sites = await createBrowserSites();

/** Returns the texts of the buttons that have a ground. The bar has a quiet one beside a page's own. */
const greenButtons = (page: WatchedPage) =>
  page
    .locator(".button")
    .evaluateAll((all) =>
      all
        .filter((button) => getComputedStyle(button).backgroundColor !== "rgba(0, 0, 0, 0)")
        .map((button) => button.textContent),
    );

const hasFetchedReact = (page: WatchedPage) => page.sentRequests.some((sent) => sent.includes("/assets/hydrate-"));

it("the built landing page hydrates without console messages, requests to other hosts and cookies, near its form", async () => {
  const page = await openPage({ url: sites.open.url });
  await page.waitForLoadState("networkidle");
  expect(hasFetchedReact(page)).toBe(false);
  await hydrateForm(page);
  await formField(page, "name").focus();
  await page.locator("[aria-label^=Notifications]").waitFor({ state: "attached" });
  await page.waitForLoadState("networkidle");
  expect(page.messages).toEqual([]);
  expect(page.sentRequests.filter((request) => !request.includes(sites.open.url))).toEqual([]);
  expect(await page.context().cookies()).toEqual([]);
});

it("the title and the links of every page are the same before and after its hydration", async () => {
  const states = ["/?joined", `/?joined&undo=${"a".repeat(32)}`, "/?undone"];
  const hydrated: string[] = [];
  const page = await openPage();
  for (const path of [...Object.keys(pages).map((key) => key.replace("*", "/nope")), ...states]) {
    const html = await (await fetch(sites.open.url + path)).text();
    if (!html.includes("data-hydration")) continue;
    hydrated.push(path);
    const links = Array.from(html.matchAll(/<a [^>]*href="([^"]*)"/g), ([, href = ""]) => decodeHtml(href));
    await page.goto(sites.open.url + path);
    await hydrateForm(page);
    await page.evaluate(() => new Promise((done) => requestIdleCallback(done))); // React's effects have run.
    const hrefs = await page.locator("a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
    expect([await page.title(), ...hrefs], path).toEqual([pageTitle(html), ...links]);
  }
  expect(hydrated).toEqual(expect.arrayContaining(["/", ...states]));
});

it("the 404 page shows its text, links to the landing page, logs the unknown path and loads no React", async () => {
  const page = await openPage();
  const response = await page.goto(`${sites.open.url}/no/such/page`);
  expect(response?.status()).toBe(404);
  await page.waitForLoadState("networkidle");
  expect(await page.locator("h1").textContent()).toBe(notFound.heading);
  expect(page.messages.filter((text) => !text.includes("Failed to load resource"))).toEqual([
    "warning: 404: there is no page at /no/such/page",
  ]);
  expect(hasFetchedReact(page)).toBe(false);
  const links = page.locator("header a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  expect(await links).toEqual(["/", "/#features", "/#pricing", "/#early-access"]);
  expect(await greenButtons(page)).toEqual([notFound.link]);
  await page.getByRole("link", { name: notFound.link }).click();
  expect(page.url()).toBe(`${sites.open.url}/`);
});

it("after a fault of the database, the error page leads back to the link of a mail", async () => {
  const page = await openPage();
  const link = `${sites.open.url}/confirm?token=${"a".repeat(32)}`;
  await page.goto(link.replace("confirm", "leave"));
  expect(await greenButtons(page)).toEqual([linkPages.leave.button]);
  await page.goto(link);
  expect(await greenButtons(page)).toEqual([linkPages.confirm.button]);
  const confirm = page.getByRole("button", { name: linkPages.confirm.button });
  await sites.wire.cut();
  await confirm.click();
  await page.getByRole("heading", { name: errorPage.heading }).waitFor();
  await sites.wire.mend();
  await page.getByRole("link", { name: errorPage.link }).click();
  expect(page.url()).toBe(link);
  await confirm.click();
  await page.getByRole("heading", { name: linkPages.dead.heading }).waitFor();
  expect(await greenButtons(page)).toEqual([linkPagesHome]);
});
