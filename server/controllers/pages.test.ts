// The pages over HTTP: what they hold, their status, and how they are sent.
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import request from "supertest";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as entry from "../../client/entry-server.tsx";
import { createTestApp, type TestApp } from "../../tests/support/app.ts";
import { rawRequest } from "../../tests/support/raw-request.ts";
import { createBuiltRenderer } from "../views/renderer.ts";
import { livePages } from "./pages.ts";

let site: TestApp;

beforeAll(async () => {
  site = await createTestApp("postgresql://unused:unused@127.0.0.1:1/unused");
});

afterAll(() => site.close());

describe("the landing page", () => {
  it("is complete in the first HTML, in the specification's order", async () => {
    const { status, type, text } = await request(site.app).get("/");
    expect([status, type]).toEqual([200, "text/html"]);
    const landmarks = ["<nav", "<h1", 'id="features"', 'id="pricing"', 'id="early-access"', "<footer"];
    const places = landmarks.map((mark) => text.indexOf(mark));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  it.each([
    "Perennial",
    "Sign up for early access",
    "No commitment. Just early access and a first look.",
    "Get Early Access",
    "3 months free",
    "lifetime discount",
    "© 2025",
    "Job title (optional)",
    "reach out once the Beta version is ready",
  ])("says “%s”", async (words) => {
    expect((await request(site.app).get("/")).text).toContain(words);
  });

  it.each([
    ["Starter Plan", "$299", "up to 5000", "20,000", "2,000"],
    ["Growth Plan", "$699", "up to 15000", "60,000", "6,000"],
    ["Scale", "$1999", "up to 40000", "150,000", "15,000"],
    ["Enterprise", "$1999+", "40000+", "custom cap", "custom cap"],
  ])("shows %s with its numbers", async (name, ...numbers) => {
    const { text } = await request(site.app).get("/");
    const plan = text.slice(text.indexOf(`<h3>${name}</h3>`));
    const shown = plan.slice(0, plan.indexOf("</dl>")).replaceAll(/<[^>]+>/g, " ");
    for (const number of numbers) expect(shown).toContain(number);
  });

  it("has six feature cards", async () => {
    const { text } = await request(site.app).get("/");
    const features = text.slice(text.indexOf('id="features"'), text.indexOf('id="pricing"'));
    expect(features.match(/<h3/g)).toHaveLength(6);
  });

  it("is not for other methods", async () => {
    const response = await request(site.app).post("/");
    expect([response.status, response.headers.allow]).toEqual([405, "GET, HEAD"]);
  });
});

describe("an unknown path", () => {
  const paths = [
    "*",

    "/nope",
    "/assets/nope.js",
    "/%",
    "/%00",
    "/%c0%af",
    "//",
    "//evil.example",
    "/..%2f",
    "/index.html",
  ];

  it.each([...paths, `/${"x".repeat(8_000)}`, "/?joined/../nope".replace("?", "%3f")])(
    "%.20s is a 404",
    async (path) => {
      const response = await rawRequest(site.app, { path });
      expect([response.status, response.type]).toEqual([404, "text/html"]);
      for (const words of ["404", "Oops! Page not found", "Return to Home", 'href="/"']) {
        expect(response.text).toContain(words);
      }
      expect(response.text).toContain('<meta name="robots" content="noindex">');
    },
  );

  it("is a 404 for every method", async () => {
    expect((await request(site.app).post("/nope")).status).toBe(404);
  });

  it("is logged, without the addresses that people put into paths", async () => {
    await request(site.app).get("/unsubscribe/ada@example.com?email=ada@example.com");
    await request(site.app).get(
      `/unsubscribe/ada%40example.com/ada%2540example.com/${"x".repeat(180)}/ada@example.com`,
    );
    await request(site.app).get("/missing-page");
    expect(site.logged()).toContain('"path":"/missing-page","status":404');
    expect(site.logged()).toContain("/unsubscribe/[address]");
    expect(site.logged()).not.toMatch(/ada(@|%)/);
  });
});

describe("a route that throws while rendering", () => {
  it("is a 500 with a constant page and no detail", async () => {
    const renderer = await createBuiltRenderer(entry, { origin: "http://localhost:3000", allowIndexing: true });
    const pages = livePages({
      ...renderer,
      page: async () => {
        throw new Error("the secret detail");
      },
    });
    const broken = await createTestApp("postgresql://unused:unused@127.0.0.1:1/unused", {
      findStored: () => undefined,
      development: [pages],
    });
    const page = await request(broken.app).get("/").set("Accept", "text/html");
    expect([page.status, page.type]).toEqual([500, "text/html"]);
    expect(page.text).toContain("Unexpected Application Error!");
    const problem = await request(broken.app).get("/").set("Accept", "application/json");
    expect([problem.status, problem.type]).toEqual([500, "application/problem+json"]);
    expect(page.text + problem.text).not.toMatch(/secret detail|\.ts/);
    expect(broken.logged()).toContain("pages.test.ts");
    await broken.close();
  });
});

describe("sending", () => {
  it.each([
    ["Accept-Encoding", `${"gzip,".repeat(200)}br`],
    ["If-None-Match", `${'"a",'.repeat(200)}*`],
    ["Range", `bytes=${"0-1,".repeat(200)}0-1`],
  ])("ignores a %s header longer than 200 characters", async (name, value) => {
    const { status, headers } = await rawRequest(site.app, { path: "/", headers: { [name]: value } });
    expect([status, headers["content-encoding"]]).toEqual([200, undefined]);
  });

  it.each([
    ["br, gzip", "br"],
    ["gzip, br", "br"],
    ["gzip", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["*", "br"],
    ["identity", undefined],
    ["", undefined],
  ])("Accept-Encoding: %s gets %s", async (accepted, coding) => {
    const plain = (await request(site.app).get("/").set("Accept-Encoding", "identity")).text;
    const chunks: Buffer[] = [];
    const response = await request(site.app)
      .get("/")
      .set("Accept-Encoding", accepted)
      .buffer(false)
      .parse((stream, done) => {
        stream.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => done(null, undefined));
      });
    expect(response.headers["content-encoding"]).toBe(coding);
    expect(response.headers.vary).toBe("Accept-Encoding");
    if (coding === undefined) expect(Buffer.concat(chunks).toString()).toBe(plain);
  });

  it("compressed forms hold the same page", async () => {
    const renderer = await createBuiltRenderer(entry, { origin: "http://localhost:3000", allowIndexing: true });
    const { html } = await renderer.page("/");
    const { compress } = await import("../views/stored-response.ts");
    const { br, gzip } = await compress(Buffer.from(html));
    expect(brotliDecompressSync(br as Buffer).toString()).toBe(html);
    expect(gunzipSync(gzip as Buffer).toString()).toBe(html);
  });

  it("an unchanged page is a 304, for each coding by its own strong ETag", async () => {
    for (const coding of ["br", "gzip", "identity"]) {
      const first = await request(site.app).get("/").set("Accept-Encoding", coding);
      const etag = first.headers.etag as string;
      expect(etag).toMatch(/^"[\w-]+"$/);
      const headers = { "Accept-Encoding": coding, "If-None-Match": etag };
      const again = await request(site.app).get("/").set(headers);
      expect([again.status, again.text, again.headers.etag]).toEqual([304, "", etag]);
      expect(again.headers).toMatchObject({ vary: "Accept-Encoding", "cache-control": first.headers["cache-control"] });
      expect([again.headers["content-type"], again.headers["content-encoding"]]).toEqual([undefined, undefined]);
      expect(
        (
          await request(site.app)
            .get("/")
            .set({ ...headers, "If-None-Match": '"other"' })
        ).status,
      ).toBe(200);
    }
  });

  describe("a range", () => {
    const get = (range: string, more: Record<string, string> = {}) =>
      request(site.app)
        .get("/apple-touch-icon.png")
        .set({ Range: range, ...more })
        .buffer(true);
    let whole: Buffer;
    let etag: string;

    beforeAll(async () => {
      const { body, headers } = await get("");
      whole = body as Buffer;
      etag = headers.etag as string;
    });

    it.each([
      ["bytes=0-9", 0, 9],
      ["bytes=10-", 10, Infinity],
      ["bytes=-5", -5, Infinity],
      ["bytes=0-100000000", 0, Infinity],
    ])("%s is sent as that part", async (range, from, to) => {
      const { status, headers, body } = await get(range);
      const start = from < 0 ? whole.length + from : from;
      const end = Math.min(to, whole.length - 1);
      expect([status, headers["content-range"], headers["content-length"], headers.etag]).toEqual([
        206,
        `bytes ${start}-${end}/${whole.length}`,
        `${end - start + 1}`,
        etag,
      ]);
      expect(whole.subarray(start, end + 1).equals(body as Buffer)).toBe(true);
    });

    it.each(["bytes=0-1,5-9", "bytes=x", "lines=1-2", "lines=100000000-", "bytes=-100000000", "bytes", ""])(
      "%s is answered with the whole",
      async (range) => {
        const { status, headers, body } = await get(range);
        expect([status, headers["accept-ranges"], (body as Buffer).length]).toEqual([200, "bytes", whole.length]);
      },
    );

    it("beyond the end is a 416 that says where the end is", async () => {
      const { status, headers } = await get(`bytes=${whole.length}-`);
      expect([status, headers["content-range"]]).toEqual([416, `bytes */${whole.length}`]);
    });

    it("continues only what has not changed", async () => {
      expect((await get("bytes=5-9", { "If-Range": etag })).status).toBe(206);
      expect((await get("bytes=5-9", { "If-Range": '"other"' })).status).toBe(200);
      expect((await get("bytes=5-9", { "If-Range": "Wed, 21 Oct 2026 07:28:00 GMT" })).status).toBe(200);
    });

    it("is of the compressed form where that is sent", async () => {
      const script = /src="(\/assets\/[^"]+\.js)"/.exec((await request(site.app).get("/")).text)?.[1] as string;
      const part = await request(site.app).get(script).set({ Range: "bytes=0-0", "Accept-Encoding": "br" });
      const full = await request(site.app).head(script).set("Accept-Encoding", "br");
      expect(part.headers["content-range"]).toBe(`bytes 0-0/${full.headers["content-length"]}`);
      expect([full.status, part.headers.etag]).toEqual([200, full.headers.etag]);
    });
  });

  it("HEAD has the headers of GET and no body", async () => {
    for (const path of ["/", "/nope", "/favicon.svg", "/healthz"]) {
      const get = await request(site.app).get(path).set("Accept-Encoding", "identity");
      const head = await request(site.app).head(path).set("Accept-Encoding", "identity");
      expect([head.status, head.headers["content-length"]]).toEqual([get.status, get.headers["content-length"]]);
      expect(head.text ?? "").toBe("");
    }
  });

  it("hashed assets are kept for a year, the page is asked for again", async () => {
    const page = await request(site.app).get("/");
    expect(page.headers["cache-control"]).toBe("public, max-age=0, s-maxage=60");
    expect(page.headers["cdn-cache-control"]).toBe("max-age=60, stale-while-revalidate=60, stale-if-error=86400");
    const missing = await request(site.app).get("/assets/hydrate-new.js");
    expect(missing.headers["cache-control"]).toBe("public, max-age=0, must-revalidate");
    expect(missing.headers["cdn-cache-control"]).toBeUndefined();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] as string;
    const asset = await request(site.app).get(script);
    expect(asset.status).toBe(200);
    expect(asset.headers["content-type"]).toBe("text/javascript; charset=utf-8");
    expect(asset.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  });

  it("a whole address as the target is the address within the site", async () => {
    for (const [path, status] of [
      ["http://localhost:3000/", 200],
      ["http://localhost:3000/?joined", 200],
      ["https://other.example/favicon.svg", 200],
      ["http://localhost:3000/nope", 404],
      ["http://localhost:3000", 200],
      ["ftp://localhost/", 404],
    ] as const) {
      expect((await rawRequest(site.app, { path })).status).toBe(status);
    }
  });

  it("files and pages are not for other methods", async () => {
    for (const path of ["/", "/?joined", "/favicon.svg", "/robots.txt", "/healthz"]) {
      const response = await request(site.app).put(path);
      expect([path, response.status, response.headers.allow]).toEqual([path, 405, "GET, HEAD"]);
    }
  });

  it("every answer carries the same policy, which has no unsafe source", async () => {
    const { etag } = (await request(site.app).get("/")).headers;
    const answers = [
      ...["/", "/nope", "/favicon.svg", "/robots.txt", "/healthz", "/api/earlyaccess", "/api/nope"].map((path) =>
        request(site.app).get(path),
      ),
      request(site.app).post("/"),
      request(site.app)
        .get("/")
        .set("If-None-Match", etag as string),
      request(site.app).get("/favicon.svg").set("Range", "bytes=0-1"),
      request(site.app).get("/favicon.svg").set("Range", "bytes=100000-"),
    ];
    const policies = new Set<string>();
    for (const answer of answers) {
      const { headers } = await answer;
      policies.add(
        Object.entries(headers)
          .filter(([name]) => /^(x-(?!request-id)|cross-|referrer|origin-agent|content-security)/.test(name))
          .map((header) => header.join(": "))
          .toSorted()
          .join("\n"),
      );
      expect(headers["content-security-policy"]).toContain("default-src 'none'");
      expect(headers["content-security-policy"]).not.toContain("unsafe");
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["x-powered-by"]).toBeUndefined();
      expect(headers["set-cookie"]).toBeUndefined();
      expect(headers["strict-transport-security"]).toBeUndefined();
      expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect(policies.size).toBe(1);
  });

  it("https alone brings HSTS and upgrade-insecure-requests", async () => {
    const policy = { https: true, inlineStyles: [], inlineScripts: [] };
    const secure = await createTestApp("postgresql://unused:unused@127.0.0.1:1/unused", { policy });
    const { headers } = await request(secure.app).get("/healthz");
    expect(headers["strict-transport-security"]).toMatch(/max-age=\d{8}/);
    expect(headers["content-security-policy"]).toContain("upgrade-insecure-requests");
    await secure.close();
  });
});
