// The sign-up form without JavaScript: form posts and the pages that they return.
import request from "supertest";
import { expect, it } from "vitest";
import { earlyAccess, fieldErrors, formFailure, meta } from "../../client/shared/content.ts";
import { createTestApp, noDatabase, testSettings } from "../../tests/support/app.ts";
import { pageText, pageTitle } from "../../tests/support/copy.ts";

const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const goBack = `${earlyAccess.failure.text} ${formFailure.back}`;
const typed = /value="Ada &lt;b&gt;"[^]*value="&quot;Q&quot;é{97}"/;
const empty = /^(?![^]*(\bada\b|engines|xxx))/i;

it.each([
  [400, 1, {}, "%FF", goBack, empty],
  [403, 1, { "Sec-Fetch-Site": "cross-site" }, "Engines", goBack, empty],
  [413, 1, {}, "x".repeat(17_000), goBack, empty],
  [415, 1, { "Content-Encoding": "br" }, "Engines", goBack, empty],
  [429, 0, {}, "Engines", earlyAccess.wait(600), empty],
  [503, 1, {}, "Engines", earlyAccess.wait(60), typed],
])(
  "a form refused with %i returns the page with the error, to which its URL leads, and the typed values if it was read",
  async (status, limit, changes, company, words, values) => {
    const { app, logged } = await createTestApp(noDatabase, { signupLimit: limit });
    const post = request(app).post("/api/earlyaccess").type("form").set("Accept", browserAccept).set(changes);
    const others = new URLSearchParams({ name: "Ada <b>", email: "a@b.co", job_title: '"Q"'.padEnd(100, "é") });
    const response = await post.send(`${others.toString()}&company=${company}`);
    const { type, headers } = response;
    expect([response.status, type, headers["cache-control"]]).toEqual([
      status,
      "text/html",
      "private, no-cache, no-transform",
    ]);
    expect(Number(headers["retry-after"] ?? 0) > 0).toBe(status > 415);
    expect(logged().includes('"msg":"request failed"')).toBe(status === 503);
    const { text } = response;
    expect(pageTitle(text)).toBe(meta.errorPrefix + meta.landing.title);
    const fragment = /action="\/api\/earlyaccess#([^"]+)"/.exec(text)?.[1];
    expect(text).toContain(`<div id="${fragment}" class="form-failure"`); // ELinks finds no fragment in a <section>.
    expect(pageText(text)).toContain(`${formFailure.reasons[status]} ${words}`);
    expect(text).not.toMatch(/data-hydration|data-beacon/);
    expect(text).toContain('id="early-access-email"');
    expect(text).toMatch(values);
  },
);

it("a browser that opens the address of a sign-up is led to the form, and not back", async () => {
  const { app } = await createTestApp(noDatabase);
  const { status, text } = await request(app).get("/api/earlyaccess").set("Accept", browserAccept);
  expect(status).toBe(405);
  expect(pageText(text)).toContain(formFailure.reasons[405]);
  expect(pageText(text)).not.toContain(formFailure.back);
});

it.each([
  [429, "Wait for a minute.", undefined],
  [429, "Wait for an hour.", undefined],
  [503, "Wait for an hour.", { name: "Ada" }],
  [503, "Wait for an hour.", { name: "Grace" }],
])("the page of a form refused with %i has its own wait “%s” and values %j", async (status, wait, values) => {
  const { options } = await createTestApp(noDatabase);
  const page = await options.frontend.getPage("/", { status, wait, values, errors: {} });
  const html = page.variants.identity.body.toString();
  expect([page.status, pageText(html).includes(wait)]).toEqual([status, true]);
  expect(/id="early-access-name"[^>]* value="(.*?)"/.exec(html)?.[1]).toBe(values?.name);
});

it("the page of a refused form whose rendering failed once is rendered again", async () => {
  let contact = () => "privacy@perennial.example";
  const settings = {
    ...testSettings,
    get contact() {
      return contact();
    },
  };
  // An origin of its own: apps of equal sites share their pages.
  const site = { origin: "https://once.example", settings };
  const { options } = await createTestApp(noDatabase, { site });
  const getPage = () => options.frontend.getPage("/", { status: 429, wait: "Wait for a minute.", errors: {} });
  contact = () => {
    throw new Error("once");
  };
  await expect(getPage()).rejects.toThrow("once");
  contact = () => "privacy@perennial.example";
  expect((await getPage()).status).toBe(429);
});

it("a form with a text longer than its field returns the whole text and names the limit", async () => {
  const { app } = await createTestApp(noDatabase);
  const post = request(app).post("/api/earlyaccess").type("form").set("Accept", browserAccept);
  const { status, text } = await post.send({ name: "<".repeat(5_000), email: "a@b.co", company: "Engines" });
  expect(status).toBe(422);
  expect(text).toMatch(/id="early-access-name"[^>]* value="(&lt;){5000}"/);
  expect(pageText(text)).toContain(fieldErrors.tooLong(100));
});

it.each([
  ["*/*", 303, "text/html"],
  [undefined, 303, "text/html"],
  [`text/html,${"x".repeat(200)}`, 303, "text/html"],
  ["application/json, text/plain, */*", 201, "application/problem+json"],
])("a form post that accepts %s gets %i if it is stored, and %s if it is refused", async (accept, stored, refused) => {
  const { app } = await createTestApp(noDatabase, { waitlist: { add: async () => undefined } });
  const post = (email: string) => {
    const sent = request(app).post("/api/earlyaccess").type("form");
    return (accept ? sent.set("Accept", accept) : sent).send({ name: "Ada", email, company: "Engines" });
  };
  const { status, headers } = await post("ada@example.com");
  expect([status, headers["cache-control"]]).toEqual([stored, "no-store, no-transform"]);
  const { status: failed, type, headers: ofFailure } = await post("ada");
  expect([failed, type]).toEqual([422, refused]);
  const caching = refused === "text/html" ? "private, no-cache, no-transform" : "no-store, no-transform";
  expect(ofFailure["cache-control"]).toBe(caching);
});
