// Page views: which requests count, and from which source, and by beacon.
import request from "supertest";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { rawRequest } from "../../tests/support/raw-request.ts";
import { createTestApp, noDatabase, testSettings, type TestApp } from "../../tests/support/app.ts";

const seen: string[] = [];
const views = { add: (source: string) => void seen.push(source), flush: async () => {}, close: async () => {} };
const chrome =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";
const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const long = "x".repeat(8_000);

beforeEach(() => {
  seen.length = 0;
});

describe("GET", () => {
  let site: TestApp;
  beforeAll(async () => {
    site = await createTestApp(noDatabase, { views });
  });
  afterAll(() => site.close());

  const get = (path = "/", headers: Record<string, string> = {}) =>
    request(site.app)
      .get(path)
      .set({ "User-Agent": chrome, Accept: accept, ...headers });

  it("counts a 200 and a 304 of the landing page", async () => {
    const { status, headers } = await get();
    const again = await get("/", { "If-None-Match": headers.etag as string });
    expect([status, again.status, seen]).toEqual([200, 304, ["direct", "direct"]]);
  });

  it.each([
    ["a prefetch", { "Sec-Purpose": "prefetch" }],
    ["a prerender", { "Sec-Purpose": "prefetch;prerender" }],
    ["a prefetch of Chrome's former name", { Purpose: "prefetch" }],
    ["a prefetch of Firefox's former name", { "X-Moz": "prefetch" }],
    ["Googlebot", { "User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" }],
    ["curl", { "User-Agent": "curl/8.5.0" }],
    ["no user agent", { "User-Agent": "" }],
    ["an overlong user agent", { "User-Agent": chrome + long }],
    ["a program that accepts anything", { Accept: "*/*" }],
  ])("does not count %s", async (_name, headers) => {
    const { status } = await get("/", headers);
    expect([status, seen]).toEqual([200, []]);
  });

  it("does not count HEAD, POST, other pages and states of the page", async () => {
    const head = await request(site.app).head("/").set({ "User-Agent": chrome, Accept: accept });
    const post = await request(site.app).post("/").set({ "User-Agent": chrome, Accept: accept });
    const others = [];
    for (const path of ["/privacy", "/nope", "/404", "/?joined", "/?undone", "/robots.txt"])
      others.push(await get(path));
    expect([head, post, ...others].map(({ status }) => status)).toEqual([200, 405, 200, 404, 404, 200, 200, 200]);
    expect(seen).toEqual([]);
  });

  const source = (path: string, referer?: string, host = "localhost") => [path, referer, host] as const;
  it.each([
    [source("/?utm_source=news"), "news"],
    [source("/?x=1&utm_source=%20Caf%C3%A9+%E2%98%95&utm_medium=mail", "https://blog.example/"), "Café ☕"],
    [source("/?utm_source=", "https://blog.example/post?secret=1"), "blog.example"],
    [source("/", "https://Blog.example:8443/post"), "blog.example"],
    [source("/", "android-app://com.google.android.gm/"), "com.google.android.gm"],
    [source("/", "http://localhost:3000/privacy"), "direct"],
    [source("/", "https://www.ours.example/", "www.ours.example:80"), "direct"],
    [source("/", "javascript:alert(1)"), "direct"],
    [source("/", `https://${"ü".repeat(4_000)}.example/`), "direct"],
    [source(`/?${long}&utm_source=late`), "late"],
    [source(`/?utm_source=${long}`), "x".repeat(100)],
    [source("/?utm_source=%00"), "direct"],
    [source("/?utm_source=%FF"), "direct"],
    [source("/?my_utm_source=x"), "direct"],
    [source("/", long), "direct"],
  ])("%j comes from %s", async ([path, referer, host], expected) => {
    const headers = { Host: host, ...(referer && { Referer: Buffer.from(referer).toString("latin1") }) };
    expect((await get(path, headers)).status).toBe(200);
    expect(seen).toEqual([expected]);
  });

  it("has no beacon", async () => {
    const page = await get();
    expect(page.text).not.toContain("data-beacon");
    expect((await request(site.app).post("/api/view").set("User-Agent", chrome)).status).toBe(404);
  });
});

describe("the beacon", () => {
  let site: TestApp;
  beforeAll(async () => {
    const publicSite = {
      origin: "http://localhost:3000",
      allowIndexing: true,
      settings: testSettings,
      viewBeacon: true,
    };
    site = await createTestApp(noDatabase, { views, site: publicSite });
  });
  afterAll(() => site.close());

  const post = (query = "", headers: Record<string, string> = {}) =>
    request(site.app)
      .post(`/api/view${query}`)
      .set({ "User-Agent": chrome, ...headers });

  it("is on the landing page alone, whose GET then counts nothing", async () => {
    const get = (path: string) => request(site.app).get(path).set({ "User-Agent": chrome, Accept: accept });
    const pages = await Promise.all(["/", "/?utm_source=x", "/?joined", "/privacy", "/nope"].map(get));
    expect(pages.map(({ text }) => /<div id="root"[^>]* data-beacon>/.test(text))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(seen).toEqual([]);
  });

  it("counts a view with its source and answers 204 without a body", async () => {
    for (const query of [
      "",
      "?utm_source=news&referrer=blog.example",
      "?utm_source=&referrer=blog.example%3A80",
      "?referrer=localhost",
    ]) {
      const { status, text, headers } = await post(query, { "Sec-Fetch-Site": "same-origin" });
      expect([status, text, headers["cache-control"]]).toEqual([204, "", "no-store"]);
    }
    expect(seen).toEqual(["direct", "news", "blog.example", "direct"]);
  });

  it("ignores bots, and refuses other sites and methods", async () => {
    expect((await post("", { "User-Agent": "Googlebot/2.1" })).status).toBe(204);
    expect((await post("", { "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
    expect((await post("", { Origin: "https://evil.example" })).status).toBe(403);
    const get = await request(site.app).get("/api/view");
    expect([get.status, get.headers.allow]).toEqual([405, "POST"]);
    expect(seen).toEqual([]);
  });

  it("does not read a body, and closes the connection of a long one", async () => {
    const { status, headers } = await rawRequest(site.app, {
      method: "POST",
      path: "/api/view?utm_source=a",
      headers: { "User-Agent": chrome, "Content-Length": "100000" },
      unfinished: true,
    });
    expect([status, headers.connection, seen]).toEqual([204, "close", ["a"]]);
  });
});
