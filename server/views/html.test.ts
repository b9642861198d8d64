// The served HTML: validity, headings and the head.
import { HtmlValidate } from "html-validate";
import request from "supertest";
import { expect, it } from "vitest";
import { linkPages, meta, product } from "../../client/shared/content.ts";
import { createTestApp, noDatabase, testSettings } from "../../tests/support/app.ts";
import { decodeHtml, pageTitle } from "../../tests/support/copy.ts";

const origin = "https://perennial.example";
const site = await createTestApp(noDatabase, { site: { origin } });
const settings = { ...testSettings, contact: "privacy@perennial.example", closed: true };
const closed = await createTestApp(noDatabase, { site: { origin, settings } });

const get = async (path: string, app = site) => (await request(app.app).get(path).set("Accept", "text/html")).text;
const postBadForm = async ({ app } = site) =>
  (await request(app).post("/api/earlyaccess").type("form").set("Accept", "text/html").send({ name: "<b>" })).text;

const token = "a".repeat(32);

it.each<[name: string, load: () => Promise<string>]>([
  ["landing page", () => get("/")],
  ["landing page after joining", () => get(`/?joined&undo=${token}`)],
  ["confirmation page", () => get(`/confirm?token=${token}`)],
  ["page of a failed form", () => postBadForm()],
  ["landing page of a closed list", () => get("/", closed)],
  ["page of a form after the closing", () => postBadForm(closed)],
  ["privacy page", () => get("/privacy")],
  ["404 page", () => get("/nope")],
  ["error page", async () => (await site.options.frontend.errorPage()).variants.identity.body.toString()],
])(
  "the %s is valid HTML, has one h1 and no heading that skips a level, and separates words without CSS",
  async (_, load) => {
    const html = await load();
    // The rules of the HTML standard, without rules of style.
    const { results } = await new HtmlValidate({ extends: ["html-validate:standard"] }).validateString(html);
    expect(results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`))).toEqual(
      [],
    );
    const levels = Array.from(html.matchAll(/<h([1-6])/g), ([, level]) => Number(level));
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    expect(levels.filter((level, i) => level > (levels[i - 1] ?? 0) + 1)).toEqual([]);
    // In text browsers, the elements of HTML 4 begin lines; header, nav and legend do not.
    const body = html.replace(/^.*<body>|<svg.*?<\/svg>|<!--.*?-->/gs, "");
    const text = body
      .replace(/<\/?(?:[phuo][1-6l]?|option|d[dlt]|li|div|t[drh]|form|fieldset|br|input)\b[^>]*>/g, "\n")
      .replace(/<.*?>/gs, "|");
    expect(text.match(/.*\w\|+\w.*/g)).toBeNull();
  },
);

it("the head of every page but the landing page and the privacy page has noindex and no canonical URL", async () => {
  const noindex = '<meta name="robots" content="noindex">';
  const others = ["/?joined", "/?undone", `/?joined&undo=${token}`, `/confirm?token=${token}`, "/leave", "/nope"];
  for (const html of [...(await Promise.all(others.map((path) => get(path)))), await postBadForm()]) {
    expect(html).toContain(noindex);
    expect(html).not.toContain("canonical");
  }
  expect(await get("/")).not.toContain(noindex);
});

it("the head has these names, colours and addresses, and the pages after a sign-up have the landing page's card", async () => {
  const tags = (html: string) =>
    html.match(/<(?:title|meta|link) .*?>|<title>.*/g)?.map((tag) =>
      decodeHtml(tag)
        .replace(/ \/>$/, ">")
        .replace(/-[\w-]{8}\./, "."),
    );
  const head = tags(await get("/")) ?? [];
  const { title, description } = meta.landing;
  const card = [
    '<meta property="og:type" content="website">',
    `<meta property="og:site_name" content="${product.name}">`,
    `<meta property="og:url" content="${origin}/">`,
    `<meta property="og:title" content="${title}">`,
    `<meta property="og:description" content="${description}">`,
    `<meta property="og:image" content="${origin + meta.picturePath}">`,
    '<meta property="og:image:width" content="1200">',
    '<meta property="og:image:height" content="630">',
    `<meta property="og:image:alt" content="${meta.picture}">`,
    '<meta name="twitter:card" content="summary_large_image">',
    `<meta name="twitter:image:alt" content="${meta.picture}">`,
  ];
  expect(head).toEqual([
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${title}</title>`,
    `<meta name="description" content="${description}">`,
    `<link rel="canonical" href="${origin}/">`,
    ...card,
    '<meta name="theme-color" content="#f5f7f1" media="(prefers-color-scheme: light)">',
    '<meta name="theme-color" content="#0c1410" media="(prefers-color-scheme: dark)">',
    '<link rel="icon" href="/favicon.ico" sizes="32x32">',
    '<link rel="icon" href="/favicon.svg" type="image/svg+xml">',
    '<link rel="apple-touch-icon" href="/apple-touch-icon.png">',
    '<link rel="manifest" href="/site.webmanifest">',
    '<link rel="preload" href="/assets/familjen-grotesk.woff2" as="font" type="font/woff2" crossorigin>',
  ]);
  for (const path of ["/?joined", `/?joined&undo=${token}`, "/?undone"]) {
    expect(tags(await get(path))?.filter((tag) => card.includes(tag))).toEqual(card);
  }
  for (const [path, { title: other }] of [
    ["/?joined", meta.joined],
    ["/privacy", meta.privacy],
    ["/nope", meta.notFound],
    [`/confirm?token=${token}`, { title: `${linkPages.confirm.heading} – ${product.name}` }],
  ] as const) {
    expect(pageTitle(await get(path))).toBe(other);
  }
  const privacy = await get("/privacy");
  expect(privacy).toContain(`<link rel="canonical" href="${origin}/privacy">`);
  expect(privacy).toContain(`<meta property="og:title" content="${meta.privacy.title}">`);
});

it("a site that forbids indexing sends noindex, also with files", async () => {
  const staging = await createTestApp(noDatabase, { site: { origin, allowIndexing: false } });
  for (const path of ["/", "/nope", "/favicon.svg"]) {
    expect((await request(staging.app).get(path)).headers["x-robots-tag"]).toBe("noindex");
  }
});
