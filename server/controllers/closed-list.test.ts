// The closed list over HTTP: the pages, 410 for every sign-up, and what still works.
import request from "supertest";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createTestApp, noDatabase, testSettings, type TestApp } from "../../tests/support/app.ts";
import { createTestDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { createBuiltFrontend } from "../views/frontend.ts";

const path = "/api/earlyaccess";
const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const ada = { name: "Ada <b>", email: "ada@example.com", company: "Engines", job_title: "Engineer" };
const contact = "privacy@perennial.example";

/** The settings of a list that closes at a time by the clock, in milliseconds. */
const closingAt = (time: number) => () => ({
  ...testSettings(),
  contact,
  closes: "31 Dec 2026 (UTC)",
  closed: Date.now() >= time,
});

let database: TestDatabase;
let site: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  const settings = () => ({ ...testSettings(), contact, closed: true });
  site = await createTestApp(database.webUrl, {
    site: { origin: "http://localhost:3000", allowIndexing: true, settings },
  });
});

afterAll(async () => {
  await site.close();
  await database.drop();
});

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const get = async ({ app }: TestApp, address: string) => (await request(app).get(address)).text;
const post = () => request(site.app).post(path);
const entries = () => database.query("SELECT email FROM earlyaccess");

function expectProblem({ status, type, body, headers }: request.Response) {
  expect([status, type, headers["cache-control"]]).toEqual([410, "application/problem+json", "no-store"]);
  expect(body).toEqual({ type: "about:blank", title: "Gone", status: 410, detail: "The early access list is closed." });
}

describe("POST", () => {
  it("returns 410 with a problem document, as JSON and as a form, and stores nothing", async () => {
    expectProblem(await post().send(ada));
    expectProblem(await post().type("form").send(ada));
    expect(await entries()).toEqual([]);
  });

  it("of a form without JavaScript returns the closed page, which says that nothing was stored", async () => {
    const asForm = () => post().type("form").set("Accept", browserAccept);
    for (const response of [
      await asForm().send(ada),
      await asForm().send({ ...ada, company: "x".repeat(20_000) }),
      await request(site.app).get(path).set("Accept", browserAccept),
    ]) {
      expect([response.status, response.type]).toEqual([410, "text/html"]);
      expect(response.text).toMatch(/<title>Error: /);
      expect(response.text).toMatch(/<section class="form-failure"[^>]* tabindex="-1" autofocus=""/);
      expect(response.text).toContain("Your sign-up was not stored.");
      expect(response.text).toContain("We take no new sign-ups.");
      expect(response.text).not.toMatch(/<form|Please try again/);
    }
    expect(await entries()).toEqual([]);
  });
});

describe("the page", () => {
  it("says so in place of the form, is not hydrated, and invites nobody", async () => {
    const page = await get(site, "/");
    expect(page).toContain("The early access list is closed");
    expect(page).not.toContain("data-hydration");
    expect(page).not.toMatch(
      /<form|<input (?!type="radio")|Get Early Access|Sign up for early access|Before you join|No commitment/,
    );
    expect(page.replaceAll(/<[^>]+>/g, " ")).not.toMatch(/\bjoin (?:the|our|now)|you join\b/i);
    expect(page).not.toMatch(/content="[^"]*Join/);
  });

  it.each(["/privacy", "/nope"])("%s has the button of the closed list in its navigation bar", async (address) => {
    const page = await get(site, address);
    expect(page).toContain('href="/#early-access">List closed<');
    expect(page).not.toContain("Get Early Access");
  });

  it("of a sign-up before the closing stays, with the undo", async () => {
    const open = await createTestApp(database.webUrl);
    const { body } = await request(open.app).post(path).send(ada);
    const page = await get(site, `/?joined&undo=${body.undo}`);
    expect(page).toContain("Wrong address? Undo");
    expect(page).not.toContain("Add a colleague");
    const undone = await request(site.app).post(`/?joined&undo=${body.undo}`);
    expect([undone.status, undone.headers.location]).toEqual([303, "/?undone#early-access"]);
    expect(await entries()).toEqual([]);
    expect(await get(site, "/?undone")).toContain("Your sign-up has been undone");
    await open.close();
  });

  it.each(["/leave", "/confirm"])("%s still works", async (address) => {
    const link = `${address}?token=${"A".repeat(22)}`;
    expect((await request(site.app).get(link)).text).toContain("<button");
    expect((await request(site.app).post(link)).status).toBe(200);
  });
});

it("the time closes a running site: the API at once, and every kept page with the refresh", async () => {
  const settings = closingAt(Date.now() + 86_400_000);
  const changes = { origin: "http://localhost:3000", allowIndexing: true, settings };
  const frontend = await createBuiltFrontend(changes);
  const options = { site: changes, frontend, waitlist: { join: async () => undefined } };
  const app = await createTestApp(noDatabase, options);
  const join = async (to: TestApp) => (await request(to.app).post(path).send(ada)).status;
  const link = `/confirm?token=${"A".repeat(22)}`;
  expect(await join(app)).toBe(201);
  expect(await get(app, "/")).toContain("Open until 31 Dec 2026 (UTC).");
  expect(await get(app, link)).toContain("Get Early Access");
  const { errorPage } = frontend;
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + 2 * 86_400_000);
  expect(await join(app)).toBe(410);
  await frontend.refresh();
  for (const address of ["/", "/?joined", "/privacy", "/nope", link]) {
    expect([address, await get(app, address)]).toEqual([address, expect.stringContaining("List closed")]);
  }
  expect(await get(app, "/")).not.toMatch(/<form|Open until/);
  expect(errorPage.variants.identity.body.toString()).toContain("List closed");
  vi.mocked(Date.now).mockRestore();
  await frontend.refresh();
  expect([await join(app), await get(app, "/")]).toEqual([201, expect.stringContaining("<form")]);
  await app.close();
});
