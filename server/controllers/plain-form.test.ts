// The form without JavaScript: what a browser sends, and the page that it gets back.
import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo } from "node:net";
import request from "supertest";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as entry from "../../client/entry-server.tsx";
import type { FormFailure } from "../../client/page-data.ts";
import { createTestApp, type TestApp } from "../../tests/support/app.ts";
import { createTestDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { createBuiltRenderer, type Renderer } from "../views/renderer.ts";
import { createErrorPages } from "./pages.ts";

const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const typed = { name: "Ada <b>", email: "ada@example.com", company: "$& Engines", job_title: '"Q"' };

let database: TestDatabase;
let site: TestApp;

beforeAll(async () => {
  database = await createTestDatabase();
  site = await createTestApp(database.webUrl);
});

afterAll(async () => {
  await site.close();
  await database.drop();
});

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const submit = ({ app }: TestApp, fields: object | string) =>
  request(app).post("/api/earlyaccess").type("form").set("Accept", browserAccept).send(fields);

/** The landing page with the status, the title, the summary and its focus. */
function expectRefusalPage({ status, type, text, headers }: request.Response, expected: number) {
  expect([status, type]).toEqual([expected, "text/html"]);
  expect(headers["cache-control"]).toBe("no-store");
  expect(text).toContain("<title>Error: ");
  expect(text).toMatch(/<section class="failure-summary"[^>]* tabindex="-1" autofocus=""/);
  expect(text).toContain("Something went wrong. Please try again.");
  expect(text).toContain('data-hydration="never"');
  expect(text).toContain('id="early-access-email"');
}

/** The same with everything that was typed. */
function expectFailurePage(response: request.Response, expected: number) {
  expectRefusalPage(response, expected);
  expect(response.text).toContain('value="Ada &lt;b&gt;"');
  expect(response.text).toContain('value="&quot;Q&quot;"');
}

it("leads to the success message", async () => {
  const response = await submit(site, typed);
  expect([response.status, response.headers.location]).toEqual([303, "/?joined#early-access"]);
  expect(await database.query("SELECT name FROM earlyaccess")).toEqual([{ name: typed.name }]);
  const page = await request(site.app).get("/?joined");
  expect(page.status).toBe(200);
  expect(page.text).toContain("Welcome to the future! 🚀");
  expect(page.text).toContain("You&#x27;re now on the early access list. We&#x27;ll notify you when we launch!");
  expect(page.text).toMatch(/<section id="early-access"[^>]* tabindex="-1"/);
});

it.each([
  [403, { "Sec-Fetch-Site": "cross-site" }, {}],
  [413, {}, { company: "x".repeat(17_000) }],
  [415, { "Content-Encoding": "br" }, {}],
])("%i: as a page that is the same for everybody", async (status, headers, changes) => {
  const response = await submit(site, { ...typed, ...changes }).set(headers);
  expectRefusalPage(response, status);
  expect(response.text).not.toMatch(/ada|Engines|xxx/i);
  expect(response.text).toContain("Back button");
});

it("422: with a link to every bad field, and its error beside it", async () => {
  const response = await submit(site, { ...typed, email: "ada@localhost", company: " " });
  expectFailurePage(response, 422);
  for (const name of ["email", "company"]) {
    expect(response.text).toContain(`href="#early-access-${name}"`);
    expect(response.text).toMatch(
      new RegExp(`id="early-access-${name}"[^>]*aria-invalid="true" aria-describedby="early-access-${name}-error"`),
    );
    expect(response.text).toContain(`id="early-access-${name}-error"`);
  }
  expect(response.text).not.toContain('href="#early-access-name"');
  expect(response.text).toContain('value="ada@localhost"');
});

it("429: too many", async () => {
  const limited = await createTestApp(database.webUrl, { signups: { limit: 1, windowSeconds: 600 } });
  await submit(limited, typed);
  const response = await submit(limited, typed);
  expectRefusalPage(response, 429);
  expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
  await limited.close();
});

it("503: no database", async () => {
  const cut = await createTestApp("postgresql://web:secret@127.0.0.1:1/none");
  const response = await submit(cut, typed);
  expectFailurePage(response, 503);
  expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
  await cut.close();
});

it("405: whoever opens the form's address gets the form", async () => {
  const response = await request(site.app).get("/api/earlyaccess").set("Accept", browserAccept);
  expectRefusalPage(response, 405);
  expect(response.headers.allow).toBe("POST");
  expect(response.text).not.toContain("Back button");
});

it("shows each value up to its field's length, so that a short form is never a long page", async () => {
  const quotes = '"'.repeat(15_000);
  const response = await submit(site, `name=${quotes}&email=${quotes.slice(0, 300)}`);
  expectRefusalPage(response, 422);
  expect(response.text).toContain(`value="${"&quot;".repeat(100)}"`);
  expect(response.text).not.toContain("&quot;".repeat(255));
});

describe("a page for one visitor", () => {
  let renderer: Renderer;
  let rendered: FormFailure[];
  let fault: Error | undefined;
  let watched: TestApp;

  beforeEach(async () => {
    const real = await createBuiltRenderer(entry, { origin: "http://localhost:3000", allowIndexing: true });
    rendered = [];
    fault = undefined;
    renderer = {
      ...real,
      page: async (address, failure) => {
        if (fault) throw fault;
        if (failure) rendered.push(failure);
        return real.page(address, failure);
      },
    };
    watched = await createTestApp(database.webUrl, { errorPages: await createErrorPages(renderer) });
  });

  afterEach(() => watched.close());

  const bad = { ...typed, email: "ada@localhost" };

  it("is rendered per visitor only if the body was read; otherwise once per status", async () => {
    for (let i = 0; i < 3; i++) await request(watched.app).get("/api/earlyaccess").set("Accept", browserAccept);
    for (let i = 0; i < 3; i++) await submit(watched, typed).set("Sec-Fetch-Site", "cross-site");
    expect(rendered.map(({ status }) => status)).toEqual([405, 403]);
    await submit(watched, bad);
    await submit(watched, bad);
    expect(rendered.map(({ status }) => status)).toEqual([405, 403, 422, 422]);
  });

  it("is replaced by the one without values while ten are on their way to clients that do not read", async () => {
    const server = createServer(watched.app).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const body = new URLSearchParams(bad).toString();
    const head = `POST /api/earlyaccess HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nContent-Type: application/x-www-form-urlencoded`;
    const message = `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const hasValues = async () => !(await submit(watched, bad)).text.includes("Back button");
    expect(await hasValues()).toBe(true);
    // The second request of a connection waits for the first response, which waits for the client.
    const socket = connect(port, "127.0.0.1").pause();
    socket.write(message.repeat(200));
    await vi.waitUntil(async () => !(await hasValues()), { timeout: 10_000 });
    socket.destroy();
    await vi.waitUntil(hasValues, { timeout: 10_000 });
    server.close();
  });

  it("that cannot be rendered is the error page with 500, and the log names no message", async () => {
    fault = new Error("ada@example.com");
    const response = await submit(watched, bad);
    expect([response.status, response.type]).toEqual([500, "text/html"]);
    expect(response.text).toContain("Unexpected Application Error!");
    expect(response.headers["content-security-policy"]).toMatch(/^default-src 'none'/);
    expect(watched.logged()).toMatch(/"status":500,"error":\{"name":"Error","stack":"/);
    expect(watched.logged()).not.toContain("ada@");
  });
});
