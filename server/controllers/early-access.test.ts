// The contract of POST /api/earlyaccess for API clients, row by row.
import { gzipSync } from "node:zlib";
import { createServer } from "node:http";
import request from "supertest";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestApp, type TestApp } from "../../tests/support/app.ts";
import { createTestDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { rawRequest } from "../../tests/support/raw-request.ts";

const path = "/api/earlyaccess";
const ada = { name: "Ada Lovelace", email: "ada@example.com", company: "Analytical Engines", job_title: "Engineer" };

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

const entries = () => database.query("SELECT name, email, company, job_title FROM earlyaccess ORDER BY email");
const post = (body: string | object) => request(site.app).post(path).send(body);

const rawPost = (body: string | Buffer, headers: Record<string, string>) =>
  rawRequest(site.app, { method: "POST", path, headers: { ...headers, "Content-Length": `${body.length}` }, body });

function expectProblem(response: { status: number; type: string; text: string }, status: number) {
  expect(response.status).toBe(status);
  expect(response.type).toBe("application/problem+json");
  const sentence = expect.stringMatching(/\w/);
  expect(JSON.parse(response.text)).toMatchObject({ type: "about:blank", status, title: sentence, detail: sentence });
}

describe("a sign-up", () => {
  it("is stored and answered with 201", async () => {
    const response = await post(ada);
    expect(response.status).toBe(201);
    expect(response.type).toBe("application/json");
    expect(await entries()).toEqual([ada]);
    const [row] = await database.query("SELECT id, created_at > now() - interval '1 minute' AS fresh FROM earlyaccess");
    expect(row).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/), fresh: true });
  });

  it("of a known address changes nothing and gets the same bytes", async () => {
    const first = await post(ada);
    const again = await post({ ...ada, email: "ADA@Example.com", name: "Somebody else" });
    expect(again.status).toBe(first.status);
    expect(again.text).toBe(first.text);
    expect(again.headers["content-type"]).toBe(first.headers["content-type"]);
    expect(await entries()).toEqual([ada]);
  });

  it("that looks like spam is stored with a flag, and gets the same bytes", async () => {
    const answers = [
      await post(ada),
      await post({ ...ada, email: "bot@example.com", message: "Buy" }),
      await request(site.app)
        .post(path)
        .type("form")
        .send({ ...ada, email: "form-bot@example.com", message: "Buy" }),
      await post({ ...ada, email: "ada@mailinator.com" }),
    ];
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const flags = await database.query(
      "SELECT email, suspected_spam, disposable_email FROM earlyaccess ORDER BY email",
    );
    expect(flags).toEqual([
      { email: "ada@example.com", suspected_spam: false, disposable_email: false },
      { email: "ada@mailinator.com", suspected_spam: false, disposable_email: true },
      { email: "bot@example.com", suspected_spam: true, disposable_email: false },
      { email: "form-bot@example.com", suspected_spam: true, disposable_email: false },
    ]);
  });

  it("is stored with where it came from", async () => {
    await post(ada).set("Referer", "http://localhost:3000/?utm_source=news&utm_campaign=first");
    const source = { utm_source: "partner", referrer: "https://partner.example/offer" };
    await post({ ...ada, email: "api@example.com", source });
    const rows = await database.query("SELECT utm_source, utm_campaign, referrer_host FROM earlyaccess ORDER BY email");
    expect(rows).toEqual([
      { utm_source: "news", utm_campaign: "first", referrer_host: null },
      { utm_source: "partner", utm_campaign: null, referrer_host: "partner.example" },
    ]);
  });

  it("fifty times at once with one address leaves one row and fifty equal answers", async () => {
    const server = createServer(site.app).listen();
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        request(server)
          .post(path)
          .send({ ...ada, name: `Ada ${i}` }),
      ),
    );
    server.close();
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(responses[0]?.status).toBe(201);
    expect(await entries()).toHaveLength(1);
  });

  it("may come as a form, from a client that takes anything", async () => {
    const response = await request(site.app).post(path).type("form").send(ada);
    expect([response.status, response.type]).toEqual([201, "application/json"]);
    expect(await entries()).toEqual([ada]);
  });

  it.each(["application/json; charset=UTF-8", 'application/json;charset="utf-8"', "Application/JSON"])(
    "may come as %s",
    async (type) => {
      expect((await rawPost(JSON.stringify(ada), { "Content-Type": type })).status).toBe(201);
    },
  );

  it("ignores unknown keys, also those of a prototype", async () => {
    const body =
      '{"name":"A","email":"a@b.co","company":"C","id":"x","created_at":"1970-01-01","__proto__":{"name":1}}';
    expect((await post(body).type("json")).status).toBe(201);
    expect(await entries()).toEqual([{ name: "A", email: "a@b.co", company: "C", job_title: null }]);
  });
});

describe("is refused with", () => {
  it.each([
    ["not JSON", '{"name":', "application/json"],
    ["no object", "[]", "application/json"],
    ["a bare value", '"name"', "application/json"],
    ["nothing", "", "application/json"],
    ["broken UTF-8", Buffer.from('{"name":"\xff"}', "latin1"), "application/json"],
    [
      "broken percent-encoding in a form",
      "name=M%FCller&email=a%40b.co&company=C",
      "application/x-www-form-urlencoded",
    ],
    ["an encoded surrogate in a form", "name=%ED%A0%80&email=a%40b.co&company=C", "application/x-www-form-urlencoded"],
    ["broken UTF-8 in a form", Buffer.from("name=\xff", "latin1"), "application/x-www-form-urlencoded"],
  ])("400: %s", async (_, body, type) => {
    expectProblem(await rawPost(body, { "Content-Type": type }), 400);
    expect(await entries()).toEqual([]);
  });

  it.each([
    ["Sec-Fetch-Site: cross-site", { "Sec-Fetch-Site": "cross-site" }],
    ["another site's Origin", { Origin: "https://evil.example" }],
    ["an opaque Origin", { Origin: "null" }],
    [
      "an Origin that only ends in our host",
      { Origin: "http://evil.example@waitlist.example", Host: "waitlist.example" },
    ],
    ["an Origin of another scheme", { Origin: "ftp://waitlist.example", Host: "waitlist.example" }],
    ["a sibling's Origin", { "Sec-Fetch-Site": "same-site", Origin: "http://other.localhost:3000" }],
  ])("403: %s", async (_, headers) => {
    expectProblem(await post(ada).set(headers), 403);
    expect(await entries()).toEqual([]);
  });

  it.each([
    ["neither header", {}],
    ["the public origin", { Origin: "http://localhost:3000", "Sec-Fetch-Site": "same-origin" }],
    ["the host that was asked", { Origin: "http://waitlist.example", Host: "waitlist.example" }],
  ])("nothing: %s", async (_, headers) => {
    expect((await post(ada).set(headers)).status).toBe(201);
  });

  it.each(["get", "put", "patch", "delete", "options"] as const)("405: %s", async (method) => {
    const response = await request(site.app)[method](path);
    expectProblem(response, 405);
    expect(response.headers.allow).toBe("POST");
  });

  it("405: as JSON for an Accept that no browser would send", async () => {
    expectProblem(
      await request(site.app)
        .get(path)
        .set("Accept", `${"a/b,".repeat(200)}text/html`),
      405,
    );
  });

  it("413: more than 16 KiB, as JSON and as a form", async () => {
    const long = { ...ada, company: "x".repeat(16 * 1024) };
    expectProblem(await post(long), 413);
    expectProblem(await request(site.app).post(path).type("form").send(long), 413);
    expect(await entries()).toEqual([]);
  });

  it("413: at once for what says that it is too long, without waiting for it", async () => {
    const headers = { "Content-Type": "application/json", "Content-Length": "99999999" };
    const response = await rawRequest(site.app, { method: "POST", path, headers, unfinished: true });
    expectProblem(response, 413);
    expect(response.headers.connection).toBe("close");
  });

  it("400: a form with more than 50 fields, however short", async () => {
    const body = `name=Ada&email=a%40b.co&company=C${"&a".repeat(47)}`;
    expect((await request(site.app).post(path).type("form").send(body)).status).toBe(201);
    expectProblem(await request(site.app).post(path).type("form").send(`${body}&a`), 400);
    expectProblem(await request(site.app).post(path).type("form").send("a&".repeat(8_000)), 400);
  });

  it.each([
    ["another type", "text/plain"],
    ["another type", "multipart/form-data; boundary=x"],
    ["another type", "application/jsonp"],
    ["another charset", "application/json; charset=latin1"],
    ["another charset", "application/json; charset=utf-7"],
    ["another charset", 'application/json; charset="utf-16"'],
    ["another charset", "application/json; charset=utf-32"],
    ["another charset", "application/x-www-form-urlencoded; charset=iso-8859-1"],
  ])("415: %s, %s", async (_, type) => {
    expectProblem(await request(site.app).post(path).set("Content-Type", type).send("{}"), 415);
  });

  it.each(["gzip", "br", "deflate", "zstd", "gzip, gzip"])("415: Content-Encoding: %s", async (encoding) => {
    const body = gzipSync(JSON.stringify(ada));
    const response = await rawPost(body, { "Content-Type": "application/json", "Content-Encoding": encoding });
    expectProblem(response, 415);
    expect(response.headers["accept-encoding"]).toBe("identity");
  });

  it.each([
    ["403", { "Sec-Fetch-Site": "cross-site" }, 1_000],
    ["413", {}, 17_000],
    ["415", { "Content-Type": "text/plain" }, 1_000],
    ["415", { "Content-Encoding": "br" }, 1_000],
    ["429", { "X-Limit": "used up" }, 1_000],
  ])("%s: without waiting for the body, as API and as page: %j", async (status, given, length) => {
    const limited = await createTestApp(database.webUrl, {
      signups: { limit: status === "429" ? 0 : 10, windowSeconds: 600 },
    });
    for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
      const headers = { "Content-Type": type, "Content-Length": `${length}`, Accept: "text/html", ...given };
      const response = await rawRequest(limited.app, { method: "POST", path, headers, unfinished: true });
      expect(response.status).toBe(Number(status));
    }
    await limited.close();
  });

  it("closes only a connection whose rest would be long to discard", async () => {
    const headers = { "Content-Type": "application/json", "Sec-Fetch-Site": "cross-site" };
    const short = await rawRequest(site.app, {
      method: "POST",
      path,
      headers: { ...headers, "Content-Length": "2" },
      body: "{}",
    });
    expect([short.status, short.headers.connection]).toEqual([403, "keep-alive"]);
    for (const rest of [{ "Content-Length": "16385" }, { "Transfer-Encoding": "chunked" }] as Record<
      string,
      string
    >[]) {
      const long = await rawRequest(site.app, {
        method: "POST",
        path,
        headers: { ...headers, ...rest },
        unfinished: true,
      });
      expect([long.status, long.headers.connection]).toEqual([403, "close"]);
    }
  });

  it("415: no content type, with and without a body", async () => {
    expectProblem(await rawPost("", {}), 415);
    expectProblem(await rawPost("{}", {}), 415);
  });

  it("422: every bad field, named once", async () => {
    const response = await post({ name: " ", email: "nonsense", company: 7, job_title: "x".repeat(101) });
    expectProblem(response, 422);
    expect(response.body.errors).toEqual([
      { pointer: "#/name", detail: "Enter your name." },
      { pointer: "#/email", detail: "Enter an email address like name@example.com." },
      { pointer: "#/company", detail: "This must be text." },
      { pointer: "#/job_title", detail: "Use at most 100 characters." },
    ]);
    expect(await entries()).toEqual([]);
  });

  it("422: a field that a form repeats", async () => {
    const body = "name=a&name=b&email=a%40b.co&company=c";
    const response = await request(site.app).post(path).type("form").send(body);
    expectProblem(response, 422);
    expect(response.body.errors).toEqual([{ pointer: "#/name", detail: "This must be text." }]);
  });
});

describe("other addresses below /api", () => {
  it.each(["/api", "/api/", "/api/other", "/api/earlyaccess/", "/api/%", "/api/earlyaccess/x"])(
    "%s is a 404",
    async (address) => {
      expectProblem(await request(site.app).get(address), 404);
      expectProblem(await request(site.app).post(address).send(ada), 404);
    },
  );

  it("in another spelling store nothing", async () => {
    for (const address of ["/API/earlyaccess", "/api/EarlyAccess", "//api/earlyaccess", "/%61pi/earlyaccess"]) {
      expect((await request(site.app).post(address).send(ada)).status).toBe(404);
    }
    expect(await entries()).toEqual([]);
  });
});

describe("when the database cannot be reached", () => {
  it("a sign-up is answered with 503 and Retry-After, the page with 200", async () => {
    const cut = await createTestApp("postgresql://web:secret@127.0.0.1:1/none");
    const response = await request(cut.app).post(path).send(ada);
    expectProblem(response, 503);
    expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
    expect((await request(cut.app).get("/")).status).toBe(200);
    expect((await request(cut.app).get("/healthz")).status).toBe(200);
    expect((await request(cut.app).get("/readyz")).status).toBe(503);
    expect(cut.logged()).toContain("DatabaseNotReachable");
    expect(cut.logged()).not.toMatch(/\bada\b|lovelace|analytical/i);
    await cut.close();
  });

  it("a fault of Postgres is a 503 as well, and its words with the values are not logged", async () => {
    await database.query("ALTER TABLE earlyaccess ADD CONSTRAINT nobody CHECK (name = '') NOT VALID");
    const response = await post(ada);
    await database.query("ALTER TABLE earlyaccess DROP CONSTRAINT nobody");
    expectProblem(response, 503);
    expect(site.logged()).toContain("23514");
    expect(site.logged()).not.toMatch(/lovelace/i);
  });
});
