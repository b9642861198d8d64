// POST /api/view: which reports count, and from which source.
import request from "supertest";
import { beforeEach, expect, it } from "vitest";
import { createTestApp, noDatabase, type TestApp } from "../../tests/support/app.ts";

const seen: string[] = [];
const pageViews = { add: (source: string) => void seen.push(source), close: async () => {} };

let site: TestApp;

beforeEach(async () => {
  seen.length = 0;
  site = await createTestApp(noDatabase, { pageViews, signupLimit: 1 });
});

const post = (query = "") => request(site.app).post(`/api/view${query}`).set("Sec-Fetch-Site", "same-origin");

it.each([
  ["?utm_source=news&referrer=blog.example", "news"],
  ["?x=1&utm_source=%20Caf%C3%A9+%E2%98%95", "café ☕"],
  ["?utm_source=&referrer=Blog.example%3A8443", "blog.example"],
  ["", "direct"],
  ["?referrer=localhost", "direct"],
  ["?referrer=127.0.0.1", "direct"],
  ["?utm_source=ada%40example.com&referrer=blog.example", "blog.example"],
])("a report with %s comes from %s", async (query, source) => {
  const { status, text, headers } = await post(query);
  expect([status, text, headers["cache-control"]]).toEqual([204, "", "no-store"]);
  expect(seen).toEqual([source]);
});

it("reports above a hundred times the limit of sign-ups get the same response, and are not counted", async () => {
  const responses = await Promise.all(Array.from({ length: 102 }, () => post()));
  expect(new Set(responses.map(({ status, text }) => `${status}${text}`))).toEqual(new Set(["204"]));
  expect(seen).toHaveLength(100);
});

it("a report from another site gets a 403, another method a 405, and neither counts", async () => {
  expect((await post().set("Sec-Fetch-Site", "cross-site")).status).toBe(403);
  expect((await request(site.app).get("/api/view")).status).toBe(405);
  expect(seen).toEqual([]);
});
