// The security headers of every kind of answer, and the points that they bring in the HTTP Observatory.
import { createHash } from "node:crypto";
import request, { type Response } from "supertest";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signupPath } from "../../client/addresses.ts";
import { createTestApp, type TestApp } from "../../tests/support/app.ts";
import { findScripts, observe, readPolicy } from "../../tests/support/observatory.ts";
import { createBuiltFrontend } from "../frontend.ts";
import { securityHeaders } from "./security-headers.ts";

const noDatabase = "postgresql://unused:unused@127.0.0.1:1/unused";
const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };
const asBrowser = { Accept: "text/html,*/*;q=0.8" };
// Requests name an origin, as a CORS header may depend on it.
const ours = { Host: "perennial.example", Origin: "https://perennial.example" };
const foreign = { Origin: "https://other.example" };

interface Sites {
  open: TestApp;
  /** Refuses every sign-up as one too many, and throws where it is asked whether it is ready. */
  failing: TestApp;
}

async function startSites(origin: string): Promise<Sites> {
  const site = { origin, allowIndexing: true };
  const { inline } = await createBuiltFrontend(site);
  const parts = { site, policy: { https: origin.startsWith("https:"), ...inline } };
  const waitlist = { join: async () => undefined };
  const broken = () => Promise.reject(new Error("broken"));
  const shut = { limit: 0, windowSeconds: 600 };
  return {
    open: await createTestApp(noDatabase, { ...parts, waitlist, isReady: async () => false }),
    failing: await createTestApp(noDatabase, { ...parts, isReady: broken, signups: shut }),
  };
}

const stopSites = ({ open, failing }: Sites) => Promise.all([open.close(), failing.close()]);

type Ask = (sites: Sites) => PromiseLike<Response>;

function get(path: string, more: Record<string, string> = {}): Ask {
  const headers = { ...foreign, ...more };
  return ({ open }) => request(open.app).get(path).set(headers);
}

function post(body: object | string, more: Record<string, string> = {}, type = "json"): Ask {
  const headers = { ...ours, ...more };
  return ({ open }) => request(open.app).post(signupPath).type(type).set(headers).send(body);
}

const askAgain: Ask = async (sites) => {
  const { headers } = await get("/")(sites);
  return get("/", { "If-None-Match": headers.etag as string })(sites);
};

const getScript: Ask = async (sites) => {
  const { text } = await get("/")(sites);
  return get(findScripts(text).find(({ src }) => src)?.src ?? "none")(sites);
};

const preflight: Ask = ({ open }) => {
  const headers = { ...foreign, "Access-Control-Request-Method": "GET" };
  return request(open.app).options("/").set(headers);
};

const pages: [status: number, name: string, ask: Ask][] = [
  [200, "the landing page", get("/", asBrowser)],
  [200, "the page after joining", get("/?joined", asBrowser)],
  [404, "the 404 page", get("/nope", asBrowser)],
  [422, "the page of a failed form", post({ name: "<b>" }, asBrowser, "form")],
  [500, "the error page", ({ failing }) => request(failing.app).get("/readyz").set(asBrowser)],
];

const answers: typeof pages = [
  ...pages,
  [200, "a hashed asset", getScript],
  [200, "a public file", get("/favicon.svg")],
  [200, "robots.txt", get("/robots.txt")],
  [200, "HEAD", ({ open }) => request(open.app).head("/").set(foreign)],
  [304, "an unchanged page", askAgain],
  [206, "a range", get("/favicon.svg", { Range: "bytes=0-1" })],
  [416, "a range beyond the end", get("/favicon.svg", { Range: "bytes=100000-" })],
  [200, "/healthz", get("/healthz")],
  [503, "/readyz", get("/readyz")],
  [201, "a sign-up", post(ada)],
  [303, "a form that was sent", post(ada, asBrowser, "form")],
  [403, "a sign-up from elsewhere", post(ada, foreign)],
  [404, "an unknown API", get("/api/nope")],
  [405, "a wrong method", get(signupPath)],
  [405, "a preflight", preflight],
  [413, "a long body", post({ ...ada, company: "x".repeat(17_000) })],
  [415, "a body of another type", post("Ada", {}, "text/plain")],
  [422, "a bad field", post({ ...ada, email: "ada" })],
  [429, "one too many", ({ failing }) => request(failing.app).post(signupPath).set(ours).send(ada)],
];

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

describe.each(["https://perennial.example", "http://localhost:3000"])("%s:", (origin) => {
  let sites: Sites;

  beforeAll(async () => {
    sites = await startSites(origin);
  });

  afterAll(() => stopSites(sites));

  it.each(answers)("%i, %s, has them all", async (expected, _name, ask) => {
    const { status, headers } = await ask(sites);
    expect(status).toBe(expected);
    expect(headers).toMatchObject({
      "content-security-policy": expect.stringMatching(/^default-src 'none';/),
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
    for (const feature of ["browsing-topics", "camera", "geolocation", "microphone", "payment", "usb"])
      expect(headers["permissions-policy"]?.split(", ")).toContain(`${feature}=()`);
    for (const name of ["access-control-allow-origin", "server", "set-cookie", "x-powered-by"])
      expect(headers).not.toHaveProperty(name);

    const policy = readPolicy(headers);
    expect(policy).toMatchObject({ "base-uri": ["'none'"], "form-action": ["'self'"], "frame-ancestors": ["'none'"] });
    expect(policy).toMatchObject({ "require-trusted-types-for": ["'script'"], "trusted-types": ["'none'"] });
    const sources = Object.values(policy).flat();
    expect(sources.filter((source) => !/^'(none|self|script|sha256-[\w+/]{43}=)'$/.test(source))).toEqual([]);

    const https = origin.startsWith("https:");
    expect(headers["strict-transport-security"]).toBe(https ? "max-age=31536000" : undefined);
    expect("upgrade-insecure-requests" in policy).toBe(https);
  });

  it.each(pages)("%i, %s, has nothing inline but what its policy names", async (_status, _name, ask) => {
    const { headers, text } = await ask(sites);
    const styles = [...text.matchAll(/<style[^>]*>(.*?)<\/style>/gs)].map(([, css = ""]) => hash(css));
    expect(styles).toHaveLength(1);
    // Structured data is not run, and needs no hash.
    const run = findScripts(text).filter(({ type }) => type !== "application/ld+json");
    const inline = run.filter(({ src }) => !src).map(({ code }) => hash(code));
    expect(readPolicy(headers)).toMatchObject({
      "style-src": ["'self'", ...styles],
      "script-src": ["'self'", ...inline],
    });
    for (const { src } of run) if (src !== undefined) expect(src).toMatch(/^\/(?!\/)/);
    // No hash allows an attribute.
    expect(text).not.toMatch(/<[^>]* (on[a-z]+|style)=/);
  });
});

it("HSTS covers subdomains only if asked to", () => {
  const policy = { https: true, inlineStyles: [], inlineScripts: [] };
  const hsts = (hstsIncludeSubdomains: boolean) =>
    securityHeaders({ ...policy, hstsIncludeSubdomains })["Strict-Transport-Security"];
  expect([hsts(false), hsts(true)]).toEqual(["max-age=31536000", "max-age=31536000; includeSubDomains"]);
});

it("the landing page gets every point of the HTTP Observatory that is to be had", async () => {
  const sites = await startSites("https://perennial.example");
  const { status, headers, text } = await get("/", asBrowser)(sites);
  // Both would count as headers.
  expect(text).not.toMatch(/<meta[^>]* (http-equiv=|name="referrer")/);
  const { points, score } = observe({ status, headers, html: text, preflight: (await preflight(sites)).headers });
  expect(points).toEqual({
    "content-security-policy": 10,
    cookies: 0,
    "cross-origin-resource-policy": 10,
    "cross-origin-resource-sharing": 0,
    redirection: 0,
    "referrer-policy": 5,
    "strict-transport-security": 0,
    "subresource-integrity": 5,
    "x-content-type-options": 0,
    "x-frame-options": 5,
  });
  expect(score).toBe(135);
  await stopSites(sites);
});
