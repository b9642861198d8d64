// The form without JavaScript: what a browser sends, and the page that it gets back.
import request from "supertest";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createTestApp, type TestApp } from "../../tests/support/app.ts";
import { createTestDatabase, type TestDatabase } from "../../tests/support/database.ts";

const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const typed = { name: "Ada <b>", email: "ada@example.com", company: "$& Engines", job_title: '"Q"' };

let database: TestDatabase;
let site: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  site = await createTestApp(database.webUrl);
});

afterAll(async () => {
  await site.close();
  await database.drop();
});

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const submit = ({ app }: TestApp, fields: object) =>
  request(app).post("/api/earlyaccess").type("form").set("Accept", browserAccept).send(fields);

/** The landing page with the status, the title, the focus and everything that was typed. */
function expectFailurePage({ status, type, text, headers }: request.Response, expected: number) {
  expect([status, type]).toEqual([expected, "text/html"]);
  expect(headers["cache-control"]).toBe("no-store");
  expect(text).toContain("<title>Error: ");
  expect(text).toMatch(/<section class="failure-summary"[^>]* tabindex="-1" autofocus=""/);
  expect(text).toContain("Something went wrong. Please try again.");
  expect(text).toContain('value="Ada &lt;b&gt;"');
  expect(text).toContain('value="&quot;Q&quot;"');
  expect(text).toContain('data-hydration="never"');
}

it("leads to the success message", async () => {
  const response = await submit(site, typed);
  expect([response.status, response.headers.location]).toEqual([303, "/?joined#early-access"]);
  expect(await database.query("SELECT name FROM earlyaccess")).toEqual([{ name: typed.name }]);
  const page = await request(site.app).get("/?joined");
  expect(page.status).toBe(200);
  expect(page.text).toContain("Welcome to the future! 🚀");
  expect(page.text).toContain("You&#x27;re now on the early access list. We&#x27;ll notify you when we launch!");
  expect(page.text).toMatch(/<section id="early-access"[^>]* tabindex="-1"/);
});

it("403: from another site", async () => {
  expectFailurePage(await submit(site, typed).set("Sec-Fetch-Site", "cross-site"), 403);
});

it("413: too long, with what was typed", async () => {
  const response = await submit(site, { ...typed, company: "x".repeat(17_000) });
  expectFailurePage(response, 413);
  expect(response.text).toContain("x".repeat(17_000));
});

it("413: far too long, as a page all the same", async () => {
  const response = await submit(site, { ...typed, company: "x".repeat(100_000) });
  expect([response.status, response.type]).toEqual([413, "text/html"]);
});

it("422: with a link to every bad field, and its error beside it", async () => {
  const response = await submit(site, { ...typed, email: "ada@localhost", company: " " });
  expectFailurePage(response, 422);
  for (const name of ["email", "company"]) {
    expect(response.text).toContain(`href="#early-access-${name}"`);
    expect(response.text).toMatch(
      new RegExp(`id="early-access-${name}"[^>]*aria-invalid="true" aria-describedby="early-access-${name}-error"`),
    );
    expect(response.text).toContain(`id="early-access-${name}-error"`);
  }
  expect(response.text).not.toContain('href="#early-access-name"');
  expect(response.text).toContain('value="ada@localhost"');
});

it("429: too many", async () => {
  const limited = await createTestApp(database.webUrl, { signups: { limit: 1, windowSeconds: 600, hourlyCeiling: 0 } });
  await submit(limited, typed);
  const response = await submit(limited, typed);
  expectFailurePage(response, 429);
  expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
  await limited.close();
});

it("503: no database", async () => {
  const cut = await createTestApp("postgresql://web:secret@127.0.0.1:1/none");
  const response = await submit(cut, typed);
  expectFailurePage(response, 503);
  expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
  await cut.close();
});

it("405: whoever opens the form's address gets the form", async () => {
  const response = await request(site.app).get("/api/earlyaccess").set("Accept", browserAccept);
  expect([response.status, response.headers.allow]).toEqual([405, "POST"]);
  expect(response.text).toContain('id="early-access-email"');
});
