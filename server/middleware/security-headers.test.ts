// The security headers of every kind of response.
import { createHash } from "node:crypto";
import request, { type Response } from "supertest";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signupPath } from "../../client/shared/addresses.ts";
import { createTestApp, noDatabase, type TestApp, testSettings } from "../../tests/support/app.ts";

const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };
const asBrowser = { Accept: "text/html,*/*;q=0.8" };
// Each request names an origin, because CORS headers may depend on it.
const ours = { Host: "perennial.example", Origin: "https://perennial.example" };
const foreign = { Origin: "https://other.example" };

interface Sites {
  open: TestApp;
  /** Refuses every sign-up with 429; its readiness check throws. */
  failing: TestApp;
}

async function startSites(origin: string): Promise<Sites> {
  const site = { origin, allowIndexing: true, settings: testSettings };
  const waitlist = { join: async () => undefined };
  const broken = () => Promise.reject(new Error("broken"));
  const shut = { limit: 0, windowSeconds: 600 };
  return {
    open: await createTestApp(noDatabase, { site, waitlist, isReady: async () => false }),
    failing: await createTestApp(noDatabase, { site, isReady: broken, signups: shut }),
  };
}

const stopSites = ({ open, failing }: Sites) => Promise.all([open.close(), failing.close()]);

type Send = (sites: Sites) => PromiseLike<Response>;

function get(path: string, more: Record<string, string> = {}): Send {
  const headers = { ...foreign, ...more };
  return ({ open }) => request(open.app).get(path).set(headers);
}

function post(body: object | string, more: Record<string, string> = {}, type = "json"): Send {
  const headers = { ...ours, ...more };
  return ({ open }) => request(open.app).post(signupPath).type(type).set(headers).send(body);
}

const getUnchanged: Send = async (sites) => {
  const { headers } = await get("/")(sites);
  return get("/", { "If-None-Match": headers.etag as string })(sites);
};

const getScript: Send = async (sites) => {
  const { text } = await get("/")(sites);
  return get(findScripts(text).find(({ src }) => src)?.src ?? "none")(sites);
};

const preflight: Send = ({ open }) => {
  const headers = { ...foreign, "Access-Control-Request-Method": "GET" };
  return request(open.app).options("/").set(headers);
};

const pages: [status: number, name: string, send: Send][] = [
  [200, "the landing page", get("/", asBrowser)],
  [200, "the page after joining", get("/?joined", asBrowser)],
  [404, "the 404 page", get("/nope", asBrowser)],
  [422, "the page for a failed form", post({ name: "<b>" }, asBrowser, "form")],
  [500, "the error page", ({ failing }) => request(failing.app).get("/readyz").set(asBrowser)],
];

const responses: typeof pages = [
  ...pages,
  [200, "a hashed asset", getScript],
  [200, "a public file", get("/favicon.svg")],
  [200, "robots.txt", get("/robots.txt")],
  [200, "HEAD", ({ open }) => request(open.app).head("/").set(foreign)],
  [304, "an unchanged page", getUnchanged],
  [200, "/healthz", get("/healthz")],
  [503, "/readyz", get("/readyz")],
  [201, "a sign-up", post(ada)],
  [303, "a form post", post(ada, asBrowser, "form")],
  [403, "a cross-site sign-up", post(ada, foreign)],
  [404, "an unknown API path", get("/api/nope")],
  [405, "GET of the sign-up path", get(signupPath)],
  [405, "POST to a page", ({ open }) => request(open.app).post("/").set(foreign)],
  [405, "a preflight", preflight],
  [413, "a body over 16 KiB", post({ ...ada, company: "x".repeat(17_000) })],
  [415, "a body of an unsupported type", post("Ada", {}, "text/plain")],
  [422, "an invalid field", post({ ...ada, email: "ada" })],
  [429, "a sign-up over the rate limit", ({ failing }) => request(failing.app).post(signupPath).set(ours).send(ada)],
];

/** Returns the headers that are the same in every response. */
const constantHeaders = ({ headers }: Pick<Response, "headers">) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) =>
      /^(x-(?!request-id)|cross-|referrer|origin-agent|content-security)/.test(name),
    ),
  );

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

describe.each(["https://perennial.example", "http://localhost:3000"])("with the origin %s,", (origin) => {
  let sites: Sites;
  let headersOfPage: object;

  beforeAll(async () => {
    sites = await startSites(origin);
    headersOfPage = constantHeaders(await get("/")(sites));
  });

  afterAll(() => stopSites(sites));

  it.each(responses)("%i for %s has every security header", async (expected, _name, send) => {
    const { status, headers } = await send(sites);
    expect(status).toBe(expected);
    expect(constantHeaders({ headers })).toEqual(headersOfPage);
    expect(headers).toMatchObject({
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    for (const feature of ["browsing-topics", "camera", "geolocation", "microphone", "payment", "usb"])
      expect(headers["permissions-policy"]?.split(", ")).toContain(`${feature}=()`);
    for (const name of ["access-control-allow-origin", "server", "set-cookie", "x-powered-by"])
      expect(headers).not.toHaveProperty(name);

    const policy = readPolicy(headers);
    expect(policy["default-src"]).toEqual(["'none'"]);
    expect(policy).toMatchObject({ "base-uri": ["'none'"], "form-action": ["'self'"], "frame-ancestors": ["'none'"] });
    expect(policy).toMatchObject({ "require-trusted-types-for": ["'script'"], "trusted-types": ["'none'"] });
    const sources = Object.values(policy).flat();
    expect(sources.filter((source) => !/^'(none|self|script|sha256-[\w+/]{43}=)'$/.test(source))).toEqual([]);

    const https = origin.startsWith("https:");
    expect(headers["strict-transport-security"]).toBe(https ? "max-age=31536000" : undefined);
    expect("upgrade-insecure-requests" in policy).toBe(https);
  });

  it.each(pages)(
    "%i for %s has no inline script, style or handler that its policy does not allow",
    async (_status, _name, send) => {
      const { headers, text } = await send(sites);
      const styles = [...text.matchAll(/<style[^>]*>(.*?)<\/style>/gs)].map(([, css = ""]) => hash(css));
      expect(styles).toHaveLength(1);
      // Browsers do not run structured data, so it needs no hash.
      const scripts = findScripts(text);
      const inline = scripts.filter(({ src }) => !src).map(({ code }) => hash(code));
      expect(readPolicy(headers)).toMatchObject({
        "style-src": ["'self'", ...styles],
        "script-src": ["'self'", ...inline],
      });
      for (const { src } of scripts) if (src !== undefined) expect(src).toMatch(/^\/(?!\/)/);
      // A hash cannot allow an attribute.
      expect(text).not.toMatch(/<[^>]* (on[a-z]+|style)=/);
    },
  );
});

it("HSTS covers subdomains if hstsIncludeSubdomains is set", async () => {
  const options = {
    site: { origin: "https://perennial.example", allowIndexing: true, settings: testSettings },
    hstsIncludeSubdomains: true,
  };
  const site = await createTestApp(noDatabase, options);
  const { headers } = await request(site.app).get("/healthz");
  expect(headers["strict-transport-security"]).toBe("max-age=31536000; includeSubDomains");
  await site.close();
});

/** Returns the sources of each directive of a Content-Security-Policy; none if one is repeated, which counts as unreadable. */
function readPolicy({
  "content-security-policy": header = "",
}: Record<string, string | undefined>): Record<string, string[]> {
  const directives = header.split(";").map((text) => text.trim().split(/\s+/));
  const policy = Object.fromEntries(directives.map(([name = "", ...sources]) => [name.toLowerCase(), sources]));
  return header && Object.keys(policy).length === directives.length ? policy : {};
}

function findScripts(html: string) {
  return [...html.matchAll(/<script([^>]*)>(.*?)<\/script>/gs)].map(([, attributes = "", code = ""]) => {
    const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1];
    return { src: attribute("src"), type: attribute("type"), integrity: attribute("integrity"), code };
  });
}
