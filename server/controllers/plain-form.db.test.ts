// The sign-up form without JavaScript: form posts and the pages that they return.
import request from "supertest";
import { beforeEach, expect, it } from "vitest";
import { createTestApp, noDatabase, type TestApp } from "../../tests/support/app.ts";
import { createTestDatabase } from "../../tests/support/database.ts";

const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const typed = { name: "Ada <b>", email: "ada@example.com", company: "$& Engines", job_title: '"Q"' };

const database = await createTestDatabase();
const site = await createTestApp(database.webUrl);

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const submit = ({ app }: TestApp, fields: object | string) =>
  request(app).post("/api/earlyaccess").type("form").set("Accept", browserAccept).send(fields);

/** Expects the landing page with an error summary that has focus and contains the words. */
function expectErrorPage({ status, type, text, headers }: request.Response, expected: number, words: string) {
  expect([status, type]).toEqual([expected, "text/html"]);
  expect(headers["cache-control"]).toBe("no-store");
  expect(text).toContain("<title>Error: ");
  expect(text).toMatch(/<section class="form-failure"[^>]* tabindex="-1" autofocus=""/);
  expect(text.replaceAll("<!-- -->", "")).toContain(words);
  expect(text).not.toMatch(/data-hydration|data-beacon/);
  expect(text).toContain('id="early-access-email"');
}

/** Expects the same page with the typed values. */
function expectErrorPageWithValues(response: request.Response, expected: number, words: string) {
  expectErrorPage(response, expected, words);
  expect(response.text).toContain('value="Ada &lt;b&gt;"');
  expect(response.text).toContain('value="&quot;Q&quot;"');
}

it.each([
  [403, { "Sec-Fetch-Site": "cross-site" }, {}],
  [413, {}, { company: "x".repeat(17_000) }],
])("a form refused with %i returns no values, and points to the Back button", async (status, headers, changes) => {
  const response = await submit(site, { ...typed, ...changes }).set(headers);
  expectErrorPage(response, status, "Something went wrong. Please try again. Your browser’s Back button");
  expect(response.text).not.toMatch(/\bada\b|Engines|xxx/i);
});

it("a form over the rate limit returns 429, and says how long to wait", async () => {
  const limited = await createTestApp(noDatabase, { limits: { limit: 0, windowSeconds: 86_400 } });
  const response = await submit(limited, typed);
  expect(response.status).toBe(429);
  expect(response.text.replaceAll("<!-- -->", "")).toContain(`sign-ups from your network. Try again in 24 hours.`);
});

it("a form returns 503 with Retry-After and the typed values if the database is unreachable", async () => {
  const cut = await createTestApp(noDatabase);
  const response = await submit(cut, typed);
  expectErrorPageWithValues(response, 503, "We can’t save your sign-up right now. Try again in 1 minute.");
  expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
});
