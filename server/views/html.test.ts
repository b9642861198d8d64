// The served HTML: validity, headings, the head, structured data and the files for crawlers.
import { HtmlValidate } from "html-validate";
import request from "supertest";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestApp, noDatabase, type TestApp, testSettings } from "../../tests/support/app.ts";

const origin = "https://perennial.example";
let site: TestApp;
let closed: TestApp;

beforeAll(async () => {
  site = await createTestApp(noDatabase, { site: { origin, allowIndexing: true, settings: testSettings } });
  const settings = () => ({ ...testSettings(), contact: "privacy@perennial.example", closed: true });
  closed = await createTestApp(noDatabase, { site: { origin, allowIndexing: true, settings } });
});

afterAll(() => Promise.all([site.close(), closed.close()]));

const get = async (path: string, app = site) => (await request(app.app).get(path).set("Accept", "text/html")).text;
const postBadForm = async ({ app } = site) =>
  (await request(app).post("/api/earlyaccess").type("form").set("Accept", "text/html").send({ name: "<b>" })).text;

const token = "A".repeat(22);

const pages: Record<string, () => Promise<string>> = {
  "the landing page": () => get("/"),
  "the landing page after joining": () => get(`/?joined&undo=${token}`),
  "the landing page after an undo": () => get("/?undone"),
  "the confirmation page": () => get(`/confirm?token=${token}`),
  "the page to leave": () => get(`/leave?token=${token}`),
  "a failed form post": () => postBadForm(),
  "the closed landing page": () => get("/", closed),
  "the closed landing page after an undo": () => get("/?undone", closed),
  "a form post after the closing": () => postBadForm(closed),
  "the privacy page": () => get("/privacy"),
  "the 404 page": () => get("/nope"),
  "the error page": async () => (await site.options.frontend.renderer.errorPage()).html,
};

describe.each(Object.entries(pages))("%s", (_, load) => {
  it("is valid HTML", async () => {
    // The rules of the HTML standard, without rules of style.
    const validator = new HtmlValidate({ extends: ["html-validate:standard"] });
    const report = await validator.validateString(await load());
    expect(
      report.results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`)),
    ).toEqual([]);
  });

  it("has one h1 and no heading that skips a level", async () => {
    const levels = [...(await load()).matchAll(/<h([1-6])/g)].map(([, level]) => Number(level));
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    expect(levels.filter((level, i) => level > (levels[i - 1] ?? 0) + 1)).toEqual([]);
  });
});

describe("the head", () => {
  const metas = (html: string) =>
    Object.fromEntries(
      [...html.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)"/g)].map(([, name, content]) => [
        name,
        content,
      ]),
    );

  it("links only to files that exist", async () => {
    const html = await get("/");
    const manifest = JSON.parse((await request(site.app).get("/site.webmanifest")).text) as {
      icons: { src: string }[];
    };
    const files = [...html.matchAll(/<link rel="(?:icon|apple-touch-icon|manifest|preload)" href="([^"]+)"/g)];
    const addresses = [...files.map(([, href]) => href as string), ...manifest.icons.map(({ src }) => src)];
    expect(addresses.length).toBeGreaterThan(6);
    for (const address of addresses)
      expect([address, (await request(site.app).get(address)).status]).toEqual([address, 200]);
  });

  it("of every other page has noindex and no canonical URL", async () => {
    for (const html of [await get("/?joined"), await get("/nope"), await postBadForm()]) {
      expect(metas(html).robots).toBe("noindex");
      expect(html).not.toContain("canonical");
    }
    expect(metas(await get("/")).robots).toBeUndefined();
  });
});

it("robots.txt allows every path and names the sitemap, which lists the landing page and the privacy page", async () => {
  expect(await get("/robots.txt")).toBe(`User-agent: *\nAllow: /\n\nSitemap: ${origin}/sitemap.xml\n`);
  const sitemap = await request(site.app).get("/sitemap.xml");
  expect(sitemap.type).toBe("application/xml");
  expect(sitemap.text.match(/<loc>[^<]+<\/loc>/g)).toEqual([`<loc>${origin}/</loc>`, `<loc>${origin}/privacy</loc>`]);
  expect((await request(site.app).get("/")).headers["x-robots-tag"]).toBeUndefined();
});

it("a site that forbids indexing disallows every path and sends noindex", async () => {
  const staging = await createTestApp(noDatabase, { site: { origin, allowIndexing: false, settings: testSettings } });
  expect(await get("/robots.txt", staging)).toBe("User-agent: *\nDisallow: /\n");
  for (const path of ["/", "/nope", "/favicon.svg"]) {
    expect((await request(staging.app).get(path)).headers["x-robots-tag"]).toBe("noindex");
  }
  expect(await get("/", staging)).toContain('<meta name="robots" content="noindex">');
  await staging.close();
});
