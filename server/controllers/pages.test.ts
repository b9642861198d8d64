// Pages and static files over HTTP: content, status, negotiation and caching.
import request from "supertest";
import { expect, it } from "vitest";
import { earlyAccess, errorPage, features, hero, notFound, pricing, product } from "../../client/shared/content.ts";
import { createTestApp, noDatabase, rawRequest } from "../../tests/support/app.ts";
import { pageText } from "../../tests/support/copy.ts";

const site = await createTestApp();
const get = (path: string, headers: Record<string, string> = {}) => request(site.app).get(path).set(headers);
const html = (await get("/")).text;

it("the landing page is complete in the first HTML, in the specification's order", () => {
  const landmarks = ["<nav", "<h1", 'id="features"', 'id="pricing"', 'id="early-access"', "<footer"];
  const places = landmarks.map((mark) => html.indexOf(mark));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places[0]).toBeGreaterThan(0);
  const cards = Object.values(features).flatMap((card) => (typeof card === "string" ? card : card.description));
  const texts = [hero.subtext, hero.offer, hero.note, ...cards, pricing.offer, product.tagline, product.copyright];
  for (const words of texts) expect(pageText(html)).toContain(words);
});

it.each(pricing.plans)("the landing page shows the price and the limits of $name", (plan) => {
  const { users, period, limits } = pricing;
  const monthly = [plan.price, period, limits.emails, plan.emails, limits.sms, plan.sms];
  expect(pageText(html)).toContain([plan.name, plan.users, users, ...monthly].join(" "));
});

it.each(["/Privacy", "/privacy/", "/index.html", "/%70rivacy", "/%c0%af", "//evil.example"])(
  "%s returns 404",
  async (path) => {
    const response = await rawRequest(site.app, { path });
    expect([response.status, response.type]).toEqual([404, "text/html"]);
    expect(pageText(response.text)).toContain(`${notFound.heading} ${notFound.text} ${notFound.link}`);
    expect(response.text).toContain('href="/"');
  },
);

it("search engines may read every page", async () => {
  expect((await get("/robots.txt")).text).toBe("User-agent: *\nAllow: /\n");
});

it("the page on a phone's home screen opens the landing page, and the icons and the social picture have the named sizes", async () => {
  const manifest = JSON.parse((await get("/site.webmanifest")).text) as Record<string, unknown>;
  expect([manifest.start_url, manifest.name]).toEqual(["/", product.name]);
  const social = { src: "/social.png", sizes: "1200x630" };
  for (const { src, sizes } of [...(manifest.icons as Record<string, string>[]), social]) {
    const picture = (await get(src ?? "")).body as Buffer;
    expect(`${picture.readUInt32BE(16)}x${picture.readUInt32BE(20)}`).toBe(sizes);
  }
});

it("200 characters of a request's path are logged unless it may hold an email address or a link's secret, or is a probe's", async () => {
  for (const at of ["@", "%40", "%252540"]) await get(`/${"x".repeat(180)}/ada${at}example.com?email=ada@example.com`);
  for (const sign of ["%3Ftoken%3D", ";token="]) await get(`/${"x".repeat(180)}${sign}${"0af7651916CD43DD".repeat(2)}`);
  for (const path of [`/${"x".repeat(15_000)}`, "/missing-page"]) await get(path);
  for (const path of ["/healthz", "/readyz"]) await get(path); // Probes come every few seconds.
  expect(site.logged()).toContain('"method":"GET","path":"/missing-page","status":404');
  expect(site.logged()).toContain('"path":"[address]"');
  expect(site.logged().match(/"path":"\[link\]"/g)).toHaveLength(2);
  expect(site.logged()).toContain(`"path":"/${"x".repeat(199)}","status":404`);
  expect(site.logged()).not.toMatch(/ada(@|%)|0af7651916|"\/(health|ready)z"/);
});

const id = "0af7651916cd43dd8448eb211c80319c";
const ownId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

it.each([
  [id, 1, id],
  ["Root_1-67891233-".padEnd(64, "a"), 1, "Root_1-67891233-".padEnd(64, "a")],
  [id, 0, ownId],
  ["x".repeat(65), 1, ownId],
  ["ada@example.com", 1, ownId],
  ["ada.example.com", 1, ownId],
  ["../../etc/passwd", 1, ownId],
  ["", 1, ownId],
  [[id, id] as unknown as string, 1, ownId],
])(
  "a request with the id %j and TRUST_PROXY=%i has an id in the response and in the log",
  async (given, trustProxy, expected) => {
    const { app, logged } = await createTestApp(noDatabase, { trustProxy });
    const { headers } = await request(app).get("/").set("X-Request-Id", given);
    expect(headers["x-request-id"]).toMatch(expected);
    expect(logged()).toContain(`"id":"${headers["x-request-id"]}"`);
  },
);

it("a page that throws while rendering returns 500 without details, as HTML or as a problem document", async () => {
  const { frontend } = site.options;
  const getPage = async () => {
    throw Object.assign(new Error("the\nsecret detail"), { code: "ESECRET" });
  };
  const findPrerendered = () => undefined;
  const broken = await createTestApp(noDatabase, { frontend: { ...frontend, findPrerendered, getPage } });
  const page = await request(broken.app).get("/").set("Accept", "text/html");
  expect([page.status, page.type]).toEqual([500, "text/html"]);
  expect(pageText(page.text)).toContain(errorPage.heading);
  expect(page.headers["cache-control"]).toBe("no-store, no-transform");
  const posted = await request(broken.app).post("/api/earlyaccess").set("Accept", "text/html").type("form").send({});
  expect([posted.status, posted.headers["cache-control"]]).toEqual([500, "private, no-cache, no-transform"]);
  const problem = await request(broken.app).get("/").set("Accept", "application/json");
  expect([problem.status, problem.type]).toEqual([500, "application/problem+json"]);
  expect(page.text + problem.text).not.toMatch(/secret|\.ts/i);
  expect(broken.logged()).toMatch(new RegExp(`"id":"${page.headers["x-request-id"]}".*pages\\.test\\.ts`));
  expect(broken.logged()).not.toContain("secret detail"); // It may quote a visitor's input.
});

it.each([
  ["br, gzip", "br"],
  ["br;q=0, gzip", "gzip"],
  ["identity", undefined],
  [`${"x, ".repeat(65)}gzip, br`, "gzip"], // The first 200 characters count.
])("a page for “Accept-Encoding: %s” has the content coding %s", async (accepted, coding) => {
  const { headers, text } = await get("/", { "Accept-Encoding": accepted });
  expect([headers["content-encoding"], text]).toEqual([coding, html]);
});

it("an unchanged page returns 304 for the ETag of its content coding, without a body", async () => {
  const headers = { "Accept-Encoding": "br" };
  const etag = (await get("/", headers)).headers.etag as string;
  const unchanged = await get("/", { ...headers, "If-None-Match": etag });
  expect([unchanged.status, unchanged.text, unchanged.headers.etag]).toEqual([304, "", etag]);
  expect(unchanged.headers.vary).toBe("Accept-Encoding");
  expect(unchanged.headers["cache-control"]).toContain("public");
  expect((await get("/", { "Accept-Encoding": "gzip", "If-None-Match": etag })).status).toBe(200);
});

it.each(["/", "/healthz"])("HEAD %s returns the headers of GET without a body", async (path) => {
  const { status, headers } = await get(path, { "Accept-Encoding": "identity" });
  const head = await request(site.app).head(path).set("Accept-Encoding", "identity");
  expect([head.status, head.headers["content-length"]]).toEqual([status, headers["content-length"]]);
  expect(head.headers["content-length"]).toMatch(/^\d+$/);
  expect(head.text ?? "").toBe("");
});

it.each(["/", "/?joined"])("POST %s returns 405 with Allow", async (path) => {
  const { status, headers } = await request(site.app).post(path);
  expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
});

it.each(["/?utm_source=x", "/?xjoined=1&undo", "/privacy?joined"])("%s returns the cached page", async (path) => {
  const [given, bare] = await Promise.all([get(path), get(path.split("?", 1)[0] as string)]);
  expect([given.status, given.headers.etag]).toEqual([200, bare.headers.etag]);
  expect(given.headers["cache-control"]).toMatch(/^public, /);
});

it.each([
  ["/?utm_source=x&joined=1", earlyAccess.success.title],
  [`/?joined&undo=${"a".repeat(32)}`, earlyAccess.success.undo],
  ["/?undone", earlyAccess.undone],
])("%s returns the page of its state, which no cache may store", async (path, words) => {
  const { status, text, headers } = await get(path);
  expect([status, headers["cache-control"], headers["cdn-cache-control"]]).toEqual([
    200,
    "no-store, no-transform",
    undefined,
  ]);
  expect(pageText(text)).toContain(words);
});

const ofCdn = "max-age=60, stale-while-revalidate=60, stale-if-error=86400, no-transform";
const assetOf = (pattern: RegExp) => pattern.exec(html)?.[1] ?? "none";
it.each<[path: string, type: string, caching: string, cdn?: string]>([
  ["/", "text/html; charset=utf-8", "public, max-age=0, s-maxage=60, no-transform", ofCdn],
  ["/privacy", "text/html; charset=utf-8", "public, max-age=0, s-maxage=60, no-transform", ofCdn],
  ["/assets/hydrate-new.js", "text/html; charset=utf-8", "public, max-age=0, must-revalidate, no-transform"],
  [assetOf(/src="(\/assets\/[^"]+\.js)"/), "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"],
  [assetOf(/href="(\/assets\/[^"]+\.woff2)"/), "font/woff2", "public, max-age=31536000, immutable"],
  ["/favicon.svg", "image/svg+xml", "public, max-age=3600"],
  ...["/social.png", "/apple-touch-icon.png", "/icon-192.png", "/icon-512.png"].map(
    (path): [string, string, string] => [path, "image/png", "public, max-age=3600"],
  ),
  ["/favicon.ico", "image/vnd.microsoft.icon", "public, max-age=3600"],
  ["/site.webmanifest", "application/manifest+json; charset=utf-8", "public, max-age=3600"],
  ["/robots.txt", "text/plain; charset=utf-8", "public, max-age=3600"],
  ["/healthz", "application/json; charset=utf-8", "no-store, no-transform"],
  ["/readyz", "application/json; charset=utf-8", "no-store, no-transform"],
])("%s has the type %s and is cached with “%s”, by a CDN with “%s”", async (path, type, caching, cdn) => {
  const { headers } = await get(path);
  expect([headers["content-type"], headers["cache-control"], headers["cdn-cache-control"]]).toEqual([
    type,
    caching,
    cdn,
  ]);
});
