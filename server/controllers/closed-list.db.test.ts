// The closed list over HTTP: the pages, 410 for every sign-up, and what still works.
import request from "supertest";
import { expect, it } from "vitest";
import { closedList, earlyAccess, hero, meta, navigation, pricing } from "../../client/shared/content.ts";
import { createTestApp, testSettings, type TestApp } from "../../tests/support/app.ts";
import { createTestDatabase } from "../../tests/support/database.ts";
import { decodeHtml, pageText, pageTitle } from "../../tests/support/copy.ts";
import { insertEntries } from "../../tests/support/waitlist-fixture.ts";
import { createToken } from "../models/entry-tokens.ts";

const path = "/api/earlyaccess";
const ada = { name: "Ada <b>", email: "ada@example.com", company: "Engines", job_title: "Engineer" };
const database = await createTestDatabase();
const site = await createTestApp(database.webUrl, { site: { settings: { ...testSettings, closed: true } } });

const get = async ({ app }: TestApp, url: string) => (await request(app).get(url)).text;

it("a form post without JavaScript to a closed list returns the closed page, which says that nothing was stored", async () => {
  for (const entry of [ada, { ...ada, company: "x".repeat(20_000) }]) {
    const response = await request(site.app).post(path).type("form").set("Accept", "text/html").send(entry);
    expect([response.status, response.type]).toEqual([410, "text/html"]);
    expect(pageTitle(response.text)).toBe(meta.errorPrefix + meta.landing.title);
    expect(pageText(response.text)).toContain(earlyAccess.closed.text);
    expect(pageText(response.text)).not.toContain(earlyAccess.failure.text);
    expect(response.text).not.toContain("<form");
  }
  expect(await database.query("SELECT FROM earlyaccess")).toEqual([]);
});

it("the page of a closed list says so in place of the form, is not hydrated, and invites nobody", async () => {
  const page = await get(site, "/");
  const [, button = ""] =
    /<a class="button button-quiet button-small" href="#early-access">(.*?)<\/a>/.exec(page) ?? [];
  expect(decodeHtml(button)).toBe(navigation.closed);
  for (const words of [closedList.heading, closedList.text]) expect(pageText(page)).toContain(words);
  expect(page.match(new RegExp(`href="#features">${closedList.button}<`, "g"))).toHaveLength(2);
  expect(page).not.toMatch(/data-hydration|<form|<input [^>]*name="(?!sentence)/);
  const { heading, join, leaveByMail, leaveByButton } = earlyAccess;
  const invitations = [navigation.join, hero.offer, hero.button, hero.note, pricing.offer, heading, join.what];
  for (const words of [...invitations, leaveByMail, leaveByButton]) expect(pageText(page)).not.toContain(words);
  const descriptions = Array.from(page.matchAll(/description" content="([^"]*)"/g), ([, words = ""]) =>
    decodeHtml(words),
  );
  expect(descriptions).toEqual([closedList.description, closedList.description]);
});

it("the links of a mail still work after the list has closed", async () => {
  const { token, hash } = createToken();
  await insertEntries(database, [{ name: "Ada", email: "ada@example.com", company: "Engines", mail_tokens: [hash] }]);
  for (const [link, left] of [
    ["/confirm", [{ confirmed: true }]],
    ["/leave", []],
  ] as const) {
    expect(await get(site, `${link}?token=${token}`)).toContain("<button");
    expect((await request(site.app).post(`${link}?token=${token}`)).status).toBe(200);
    expect(await database.query("SELECT confirmed_at IS NOT NULL AS confirmed FROM earlyaccess")).toEqual(left);
  }
});

it("every page of a closed list says so, also the error page", async () => {
  for (const url of ["/", "/?joined", "/?undone", "/privacy", "/nope", `/confirm?token=${"a".repeat(32)}`]) {
    expect([url, pageText(await get(site, url))]).toEqual([url, expect.stringContaining(navigation.closed)]);
  }
  const errorPage = await site.options.frontend.errorPage();
  expect(pageText(errorPage.variants.identity.body.toString())).toContain(navigation.closed);
});
