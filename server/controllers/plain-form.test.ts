// The sign-up form without JavaScript: form posts and the pages that they return.
import request from "supertest";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { FormFailure } from "../../client/shared/page-data.ts";
import { createTestApp, noDatabase, type TestApp } from "../../tests/support/app.ts";
import { createTestDatabase, type TestDatabase } from "../../tests/support/database.ts";

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

/** Expects the landing page with an error summary that has focus. */
function expectErrorPage({ status, type, text, headers }: request.Response, expected: number) {
  expect([status, type]).toEqual([expected, "text/html"]);
  expect(headers["cache-control"]).toBe("no-store");
  expect(text).toContain("<title>Error: ");
  expect(text).toMatch(/<section class="form-failure"[^>]* tabindex="-1" autofocus=""/);
  expect(text).toContain("Something went wrong. Please try again.");
  expect(text).not.toContain("data-hydration");
  expect(text).toContain('id="early-access-email"');
}

/** Expects the same page with the typed values. */
function expectErrorPageWithValues(response: request.Response, expected: number) {
  expectErrorPage(response, expected);
  expect(response.text).toContain('value="Ada &lt;b&gt;"');
  expect(response.text).toContain('value="&quot;Q&quot;"');
}

const joinedAddress = expect.stringMatching(/^\/\?joined&undo=[\w-]{22}#early-access$/);

it("a valid form redirects to the page with the success message", async () => {
  const response = await submit(site, typed);
  expect([response.status, response.headers.location]).toEqual([303, joinedAddress]);
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
])(
  "a form refused with %i returns the error page without values and points to the Back button",
  async (status, headers, changes) => {
    const response = await submit(site, { ...typed, ...changes }).set(headers);
    expectErrorPage(response, status);
    expect(response.text).not.toMatch(/\bada\b|Engines|xxx/i);
    expect(response.text).toContain("Back button");
  },
);

it("an invalid form returns 422 with a link to each invalid field and the error beside the field", async () => {
  const response = await submit(site, { ...typed, email: "ada@localhost", company: " " });
  expectErrorPageWithValues(response, 422);
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

it.each([
  [60, "1 minute"],
  [600, "10 minutes"],
  [86_400, "24 hours"],
])(
  "a form over the rate limit of %i s returns 429 with Retry-After, and says how long to wait",
  async (seconds, wait) => {
    const limited = await createTestApp(database.webUrl, { signups: { limit: 0, windowSeconds: seconds } });
    const response = await submit(limited, typed);
    expect(response.status).toBe(429);
    expect(response.text.replaceAll("<!-- -->", "")).toContain(
      `There were many sign-ups from your network. Please try again in ${wait}. The Back button of your browser returns to what you typed.`,
    );
    expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
    await limited.close();
  },
);

it("a form returns 503 with Retry-After and the typed values if the database is unreachable", async () => {
  const cut = await createTestApp(noDatabase);
  const response = await submit(cut, typed);
  expectErrorPageWithValues(response, 503);
  expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
  await cut.close();
});

it("GET of the form's address returns 405 with the form", async () => {
  const response = await request(site.app).get("/api/earlyaccess").set("Accept", browserAccept);
  expectErrorPage(response, 405);
  expect(response.headers.allow).toBe("POST");
  expect(response.text).not.toContain("Back button");
});

describe("a form with a mistyped address", () => {
  const mistyped = { ...typed, email: "Ada@Gmial.com" };
  const emails = async () =>
    (await database.query("SELECT email FROM earlyaccess ORDER BY email")).map(({ email }) => email);

  it("is not stored: the page asks, keeps the values, and has a button for each address", async () => {
    const { status, text, headers } = await submit(site, mistyped);
    expect([status, headers["cache-control"]]).toEqual([422, "no-store"]);
    expect(text).toContain("<title>Check your email address – ");
    expect(text).toMatch(/<section class="form-failure"[^>]* tabindex="-1" autofocus=""/);
    expect(text).toContain("Did you mean ada@gmail.com?");
    expect(text).not.toContain("Something went wrong");
    expect(text).not.toContain('aria-invalid="true"');
    for (const value of ["Ada &lt;b&gt;", "Ada@Gmial.com", "$&amp; Engines", "&quot;Q&quot;"]) {
      expect(text).toContain(`value="${value}"`);
    }
    const buttons = [...text.matchAll(/<button[^>]* value="([^"]*)" name="email_choice">([^<]*)/g)];
    expect(buttons.map(([, value, label]) => [label, value])).toEqual([
      ["Use it", "ada@gmail.com"], // The first: Enter in a field presses it.
      ["Keep mine", "ada@gmial.com"],
      ["Get Early Access", "ada@gmial.com"],
    ]);
    expect(await emails()).toEqual([]);
    expect(site.logged()).not.toMatch(/ada@/i);
  });

  it.each(["ada@gmail.com", "ada@gmial.com"])("is stored with the chosen address %s", async (email_choice) => {
    const response = await submit(site, { ...mistyped, email_choice });
    expect([response.status, response.headers.location]).toEqual([303, joinedAddress]);
    expect(await emails()).toEqual([email_choice]);
  });

  it.each(["ada@gmail.com", "ada@gmial.com", "eve@evil.example", "", "x".repeat(2_000)])(
    "asks again about another mistyped address, although the choice is %j",
    async (email_choice) => {
      const { status, text } = await submit(site, { ...typed, email: "grace@hotnail.com", email_choice });
      expect(status).toBe(422);
      expect(text).toContain("Did you mean grace@hotmail.com?");
      expect(await emails()).toEqual([]);
    },
  );

  it("counts in the rate limiter", async () => {
    const limited = await createTestApp(database.webUrl, { signups: { limit: 1, windowSeconds: 600 } });
    expect((await submit(limited, mistyped)).status).toBe(422);
    expect((await submit(limited, { ...mistyped, email_choice: "ada@gmail.com" })).status).toBe(429);
    await limited.close();
  });

  it("keeps the flag of the honeypot field", async () => {
    await submit(site, { ...mistyped, email_choice: "ada@gmail.com", message: "Buy" });
    expect(await database.query("SELECT email, suspected_spam FROM earlyaccess")).toEqual([
      { email: "ada@gmail.com", suspected_spam: true },
    ]);
  });
});

describe("the error page", () => {
  let rendered: FormFailure[];
  let fault: Error | undefined;
  let observed: TestApp;

  beforeEach(async () => {
    const { frontend } = site.options;
    rendered = [];
    fault = undefined;
    const page: typeof frontend.renderer.page = async (address, failure) => {
      if (fault) throw fault;
      if (failure) rendered.push(failure);
      return frontend.renderer.page(address, failure);
    };
    const renderer = { ...frontend.renderer, page };
    observed = await createTestApp(database.webUrl, { frontend: { ...frontend, renderer } });
  });

  afterEach(() => observed.close());

  const bad = { ...typed, email: "ada@localhost" };

  it("is rendered per request if the body was read, otherwise once per status and time to wait", async () => {
    for (let i = 0; i < 3; i++) await request(observed.app).get("/api/earlyaccess").set("Accept", browserAccept);
    for (let i = 0; i < 3; i++) await submit(observed, typed).set("Sec-Fetch-Site", "cross-site");
    expect(rendered.map(({ status }) => status)).toEqual([405, 403]);
    await submit(observed, bad);
    await submit(observed, bad);
    expect(rendered.map(({ status }) => status)).toEqual([405, 403, 422, 422]);
  });

  it("becomes a 500 if rendering throws, and the log has no error message", async () => {
    fault = new Error("ada@example.com");
    const response = await submit(observed, bad);
    expect([response.status, response.type]).toEqual([500, "text/html"]);
    expect(response.text).toContain("Unexpected Application Error!");
    expect(response.headers["content-security-policy"]).toMatch(/^default-src 'none'/);
    expect(observed.logged()).toMatch(/"status":500,"error":\{"name":"Error","stack":"/);
    expect(observed.logged()).not.toContain("ada@");
  });
});
