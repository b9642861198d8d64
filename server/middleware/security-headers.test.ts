// The security headers of every kind of response.
import { createHash } from "node:crypto";
import request, { type Response } from "supertest";
import { expect, it } from "vitest";
import { createTestApp, noDatabase } from "../../tests/support/app.ts";

const site = await createTestApp(noDatabase, {
  site: { origin: "https://perennial.example" },
  waitlist: { add: async () => undefined },
  isReady: () => Promise.reject(new Error("broken")),
});

const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };
// Each request names an origin, because CORS headers may depend on it.
const ours = { Host: "perennial.example", Origin: "https://perennial.example" };
const foreign = { Origin: "https://other.example" };

const get = (path: string, headers: Record<string, string> = {}) =>
  request(site.app)
    .get(path)
    .set({ Accept: "text/html", ...foreign, ...headers });
const landing = await get("/");
const post = (body: object, headers: Record<string, string>) =>
  request(site.app).post("/api/earlyaccess").set(headers).send(body);
const postBadForm = () => post({ name: "<b>" }, { ...ours, Accept: "text/html" }).type("form");

/** Returns the headers that are the same in every response. */
const constantHeaders = ({ headers }: Pick<Response, "headers">) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) =>
      /^(x-(?!request-id)|cross-|referrer|origin-agent|content-security|strict|permissions)/.test(name),
    ),
  );

it("the security policy runs no script but the site's own, and no other site can embed a page", () => {
  expect(landing.headers).toMatchObject({
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "same-origin",
    "strict-transport-security": "max-age=31536000",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
  });
  const sources = ["script", "style", "img", "font", "connect", "manifest"]
    .map((name) => `${name}-src 'self'`)
    .join(";");
  const policy = landing.headers["content-security-policy"] as string;
  expect(policy.replaceAll(/ 'sha256-[\w+/]{43}='/g, "")).toBe(
    `default-src 'none';${sources};form-action 'self';base-uri 'none';frame-ancestors 'none';` +
      "require-trusted-types-for 'script';trusted-types 'none';upgrade-insecure-requests",
  );
});

it.each([
  ["/", ".field{", ".message{"],
  ["/privacy", ".privacy-head{", ".field{"],
  ["/readyz", ".message{", ".field{"],
])("the page at %s inlines the stylesheet of its kind of page, and the policy names it", async (path, rule, other) => {
  const response = await get(path);
  const [, css = ""] = /<style>(.*?)<\/style>/s.exec(response.text) ?? [];
  expect([css.includes(rule), css.includes(other)]).toEqual([true, false]);
  const hash = createHash("sha256").update(css).digest("base64");
  expect(response.headers["content-security-policy"]).toContain(`'sha256-${hash}'`);
});

it.each<[status: number, name: string, send: () => PromiseLike<Response>]>([
  [404, "the 404 page", () => get("/nope")],
  [200, "a public file", () => get("/favicon.svg")],
  [304, "an unchanged page", () => get("/", { "If-None-Match": landing.headers.etag as string })],
  [500, "the error page", () => get("/readyz")],
  [405, "a preflight", () => request(site.app).options("/").set(foreign)],
  [201, "a sign-up", () => post(ada, ours)],
  [403, "a cross-site sign-up", () => post(ada, foreign)],
  [422, "the page of a failed form", postBadForm],
])("the response %i of %s has every security header, and no CORS header", async (expected, _, send) => {
  const response = await send();
  expect(response.status).toBe(expected);
  expect(constantHeaders(response)).toEqual(constantHeaders(landing));
  for (const name of ["access-control-allow-origin", "server", "set-cookie", "x-powered-by"]) {
    expect(response.headers).not.toHaveProperty(name);
  }
});

it("a site over http has neither HSTS nor upgrade-insecure-requests, which break it", async () => {
  const other = await createTestApp();
  const response = await request(other.app).get("/");
  expect(response.headers).not.toHaveProperty("strict-transport-security");
  expect(response.headers["content-security-policy"]).not.toContain("upgrade-insecure-requests");
});
