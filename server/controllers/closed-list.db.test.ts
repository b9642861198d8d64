// The closed list over HTTP: the pages, 410 for every sign-up, and what still works.
import request from "supertest";
import { expect, it } from "vitest";
import { settings as rules } from "../config/settings.ts";
import { createTestApp, noDatabase, testSettings, type TestApp } from "../../tests/support/app.ts";
import { createTestDatabase } from "../../tests/support/database.ts";
import { insertEntries } from "../../tests/support/waitlist-fixture.ts";
import { createToken } from "../models/entry-tokens.ts";
import { describeClosing } from "../models/page-settings.ts";
import { createBuiltFrontend } from "../views/frontend.ts";

const path = "/api/earlyaccess";
const ada = { name: "Ada <b>", email: "ada@example.com", company: "Engines", job_title: "Engineer" };
const database = await createTestDatabase();
const site = await createTestApp(database.webUrl, { site: { settings: () => ({ ...testSettings(), closed: true }) } });

const get = async ({ app }: TestApp, url: string) => (await request(app).get(url)).text;

it("a form post without JavaScript to a closed list returns the closed page, which says that nothing was stored", async () => {
  for (const entry of [ada, { ...ada, company: "x".repeat(20_000) }]) {
    const response = await request(site.app).post(path).type("form").set("Accept", "text/html").send(entry);
    expect([response.status, response.type]).toEqual([410, "text/html"]);
    expect(response.text).toMatch(/<title>Error: /);
    expect(response.text).toContain("Your sign-up wasn’t saved.");
    expect(response.text).not.toMatch(/<form|Please try again/);
  }
  expect(await database.query("SELECT FROM earlyaccess")).toEqual([]);
});

it("the page of a closed list says so in place of the form, is not hydrated, and invites nobody", async () => {
  const page = await get(site, "/");
  expect(page).toContain("The early access list is closed");
  expect(page).not.toContain("data-hydration");
  expect(page).toContain('<a class="button button-quiet button-small" href="#early-access">List closed</a>');
  expect(page).not.toMatch(/<form|<input (?![^>]*type="radio")|Get Early Access|Sign up for|No commitment/);
  expect(page.replaceAll(/<[^>]+>/g, " ")).not.toMatch(/\bjoin (?:the|our|now)|you join\b/i);
  expect(page).not.toMatch(/content="[^"]*Join/);
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

it.each([
  ["2026-12-31", "31 Dec 2026 (UTC)"],
  ["2026-12-31T18:00+01:00", "31 Dec 2026 17:00 (UTC)"],
])("the closing time %s is shown as %s", (text, words) => {
  expect(describeClosing(rules.WAITLIST_CLOSES.schema.parse(text) as Date)).toBe(words);
});

it("the closing time closes a running site: the API at once, and every page with the refresh", async () => {
  let isClosed = false;
  const changing = () => ({ ...testSettings(), closes: "31 Dec 2026 (UTC)", closed: isClosed });
  const changes = { ...site.options.site, settings: changing };
  const frontend = await createBuiltFrontend(changes);
  const app = await createTestApp(noDatabase, { site: changes, frontend, waitlist: { add: async () => undefined } });
  const join = async () => (await request(app.app).post(path).send(ada)).status;
  expect(await join()).toBe(201);
  for (const url of ["/", "/?undone"]) expect(await get(app, url)).toContain("Open until 31 Dec 2026 (UTC).");
  isClosed = true;
  expect(await join()).toBe(410);
  await frontend.refresh();
  for (const url of ["/", "/?joined", "/?undone", "/privacy", "/nope", `/confirm?token=${"a".repeat(32)}`]) {
    expect([url, await get(app, url)]).toEqual([url, expect.stringContaining("List closed")]);
  }
  expect(await get(app, "/")).not.toMatch(/<form|Open until/);
  expect((await frontend.errorPage()).variants.identity.body.toString()).toContain("List closed");
});
