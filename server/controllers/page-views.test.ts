// POST /api/view: which reports count, and from which source.
import request from "supertest";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTestApp, noDatabase, type TestApp } from "../../tests/support/app.ts";

const seen: string[] = [];
const views = { add: (source: string) => void seen.push(source), flush: async () => {}, close: async () => {} };
const long = "x".repeat(8_000);

let site: TestApp;

beforeEach(async () => {
  seen.length = 0;
  site = await createTestApp(noDatabase, { views, signups: { limit: 3, windowSeconds: 600 } });
});

afterEach(() => site.close());

const post = (query = "", headers: Record<string, string> = {}) =>
  request(site.app).post(`/api/view${query}`).set(headers);

it("the landing page alone asks its script for a report, and no GET counts a view", async () => {
  const asks = [];
  for (const path of ["/", "/?utm_source=x", "/?joined", "/privacy", "/nope"]) {
    asks.push(/<div id="root"[^>]* data-beacon>/.test((await request(site.app).get(path)).text));
  }
  expect([asks, seen]).toEqual([[true, true, false, false, false], []]);
});

it("a report counts and gets a 204 without a body", async () => {
  const { status, text, headers } = await post("", { "Sec-Fetch-Site": "same-origin" });
  expect([status, text, headers["cache-control"], seen]).toEqual([204, "", "no-store", ["direct"]]);
});

const source = (query: string, host = "localhost") => [query, host] as const;
it.each([
  [source("?utm_source=news&referrer=blog.example"), "news"],
  [source("?x=1&utm_source=%20Caf%C3%A9+%E2%98%95"), "Café ☕"],
  [source("?utm_source=&referrer=Blog.example%3A8443"), "blog.example"],
  [source("?referrer=localhost"), "direct"],
  [source("?referrer=www.ours.example", "www.ours.example:80"), "direct"],
  [source(`?${long}&utm_source=late`), "late"],
  [source(`?utm_source=${long}`), "x".repeat(100)],
  [source("?utm_source=%00"), "direct"],
  [source("?my_utm_source=x"), "direct"],
  [source(`?referrer=${long}`), "direct"],
])("a report with %j comes from %s", async ([query, host], expected) => {
  expect((await post(query, { Host: host })).status).toBe(204);
  expect(seen).toEqual([expected]);
});

it("reports above the client's limit get the same response, and are not counted", async () => {
  const responses = [];
  for (let i = 0; i < 5; i++) responses.push(await post());
  expect(responses.map(({ status, text }) => `${status}${text}`)).toEqual(Array.from({ length: 5 }, () => "204"));
  expect(seen).toHaveLength(3);
});

it("reports from other sites and with other methods are refused", async () => {
  expect((await post("", { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
  expect((await post("", { Origin: "https://evil.example" })).status).toBe(403);
  const get = await request(site.app).get("/api/view");
  expect([get.status, get.headers.allow, seen]).toEqual([405, "POST", []]);
});
