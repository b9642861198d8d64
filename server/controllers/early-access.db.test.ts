// The HTTP contract of POST /api/earlyaccess for API clients.
import { gzipSync } from "node:zlib";
import request, { type Response } from "supertest";
import { beforeEach, expect, it } from "vitest";
import { earlyAccess, fieldErrors } from "../../client/shared/content.ts";
import { createTestApp, rawRequest } from "../../tests/support/app.ts";
import { fieldNamed } from "../../tests/support/copy.ts";
import { createTestDatabase } from "../../tests/support/database.ts";

const path = "/api/earlyaccess";
const json = "application/json";
const form = "application/x-www-form-urlencoded";
const ada = {
  name: "Ada Lovelace",
  email: "ada@example.com",
  company: "Analytical Engines™",
  job_title: "Ingénieure 🚀",
};

const database = await createTestDatabase();
const site = await createTestApp(database.webUrl);

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const entries = () => database.query("SELECT name, email, company, job_title FROM earlyaccess ORDER BY email");
const post = (body: string | object, { app } = site) => request(app).post(path).send(body);

/** Returns the status and the body of each response, without repetitions and with the same token to undo the sign-up. */
const distinct = (responses: Response[]) => [
  ...new Set(responses.map(({ status, text }) => `${status} ${text.replace(/(?<="undo":")[\da-f]{32}"/, '…"')}`)),
];

function expectProblem(response: { status: number; type: string; text: string }, status: number) {
  expect([response.status, response.type]).toEqual([status, "application/problem+json"]);
  const sentence = expect.stringMatching(/\w/);
  expect(JSON.parse(response.text)).toMatchObject({ type: "about:blank", status, title: sentence, detail: sentence });
}

async function expectRefused(response: Parameters<typeof expectProblem>[0], status: number) {
  expectProblem(response, status);
  expect(await entries()).toEqual([]);
}

it("a valid sign-up returns 201 and is stored, and the same response for a known address, whose entry stays unchanged", async () => {
  const first = await post(ada);
  const again = { ...ada, email: "ADA@Example.com", name: "Another name" };
  const second = await post(again).set("Accept", "text/html"); // JSON gets JSON.
  expect(distinct([first, second])).toEqual([expect.stringMatching(/^201 /)]);
  expect(first.body.message).toBe(earlyAccess.success.text);
  expect(await entries()).toEqual([ada]);
});

it("a valid sign-up returns the same response as suspected spam, which is stored with a flag", async () => {
  const responses = [await post(ada), await post({ ...ada, email: "bot@example.com", message: "Buy" })];
  expect(distinct(responses)).toHaveLength(1);
  expect(await database.query("SELECT email, suspected_spam FROM earlyaccess ORDER BY email")).toEqual([
    { email: "ada@example.com", suspected_spam: false },
    { email: "bot@example.com", suspected_spam: true },
  ]);
});

it("a valid sign-up replaces the entry of its address only if it waits and has the flag suspected_spam", async () => {
  const bot = { ...ada, name: "Bot", message: "Buy" };
  const another = { ...ada, name: "Another name" };
  const responses: Response[] = [];
  for (const entry of [bot, ada, bot, another]) responses.push(await post(entry));
  expect(distinct(responses)).toHaveLength(1);
  expect(await entries()).toEqual([ada]);
  await database.query("UPDATE earlyaccess SET suspected_spam = true, status = 'invited'");
  await post(another);
  expect(await entries()).toEqual([ada]);
});

it("a valid sign-up is stored with its campaign parameters and its referrer", async () => {
  await post(ada).set("Referer", "http://localhost:3000/?utm_source=news&utm_campaign=first");
  const source = { utm_source: "partner", referrer: "https://partner.example/offer" };
  await post({ ...ada, email: "api@example.com", source });
  const rows = await database.query("SELECT utm_source, utm_campaign, referrer_host FROM earlyaccess ORDER BY email");
  expect(rows).toEqual([
    { utm_source: "news", utm_campaign: "first", referrer_host: null },
    { utm_source: "partner", utm_campaign: null, referrer_host: "partner.example" },
  ]);
});

it.each([
  ["the public origin", { Origin: "http://localhost:3000", "Sec-Fetch-Site": "same-origin" }],
  ["the origin of the requested host", { Origin: "http://waitlist.example", Host: "waitlist.example" }],
  ["the origin of the requested host and port", { Origin: "http://waitlist.example:81", Host: "waitlist.example:81" }],
  ["its https origin, which a proxy serves", { Origin: "https://waitlist.example", Host: "waitlist.example" }],
  ["an origin that a proxy's Referrer-Policy hides", { Origin: "null", "Sec-Fetch-Site": "same-origin" }],
  ["a host that a proxy replaced", { Origin: "https://www.example", "Sec-Fetch-Site": "same-origin" }],
  ["an upper-case charset", { "Content-Type": `${json}; charset=UTF-8` }],
  ["a charset without its hyphen", { "Content-Type": `${json}; charset=utf8` }],
])("a valid sign-up returns 201 for a request with %s", async (_, headers) => {
  expect((await post(ada).set(headers)).status).toBe(201);
});

const sent = JSON.stringify(ada);
const posted = { "Content-Type": json };
it.each<[status: number, what: string, headers: Record<string, string>, body: string | Buffer]>([
  [400, "a body that ends early", posted, sent.slice(0, -1)],
  [400, "invalid percent-encoding", { "Content-Type": form, Accept: json }, "name=M%FCller&email=a%40b.co&company=C"],
  [403, "Sec-Fetch-Site: cross-site", { ...posted, "Sec-Fetch-Site": "cross-site" }, sent],
  [403, "a foreign origin", { ...posted, Origin: "https://evil.example" }, sent],
  [403, "an opaque origin", { ...posted, Origin: "null" }, sent],
  [403, "a sibling site", { ...posted, Origin: "http://a.localhost:3000", "Sec-Fetch-Site": "same-site" }, sent],
  [403, "an origin that ends in the host", { ...posted, Origin: "http://evil.test@a.test", Host: "a.test" }, sent],
  [413, "an endless body", { ...posted, "Transfer-Encoding": "chunked" }, " ".repeat(1_000_000)],
  [415, "no type", {}, sent],
  [415, "the type of a file upload", { "Content-Type": "multipart/form-data; boundary=x" }, sent],
  [415, "another charset", { "Content-Type": `${json}; charset=latin1` }, sent],
  [415, "an encoding of Unicode that is not UTF-8", { "Content-Type": `${json}; charset=utf-7` }, sent],
  [415, "a compressed body", { ...posted, "Content-Encoding": "gzip" }, gzipSync(sent)],
  [422, "no body", posted, ""],
  [422, "a JSON array", posted, "[]"],
  [
    422,
    "invalid UTF-8 in a field",
    posted,
    Buffer.from('{"name":"M\xfcller","email":"a@b.co","company":"C"}', "latin1"),
  ],
])("a refused request stores nothing and returns %i for %s", async (status, _, headers, body) => {
  await expectRefused(await rawRequest(site.app, { method: "POST", path, headers }, body), status);
});

it.each<[detail: string, headers: Record<string, string>, body: string | Buffer]>([
  ["The body is not a valid JSON object.", posted, '"Ada"'],
  ["The body is longer than 16 KiB.", posted, " ".repeat(17_000)],
  ["Send the body without a Content-Encoding.", { ...posted, "Content-Encoding": "gzip" }, gzipSync(sent)],
  ["The form has invalid percent-encoding.", { "Content-Type": form, Accept: json }, "name=M%FCller"],
  ["The form has more than 100 fields.", { "Content-Type": form, Accept: json }, "a&".repeat(101)],
])("a refused request is told its fault: %s", async (detail, headers, body) => {
  const answer = await rawRequest(site.app, { method: "POST", path, headers }, body);
  expect(JSON.parse(answer.text)).toMatchObject({ detail });
});

it("a refused request from another site is logged with 200 characters of its origin and of its host", async () => {
  await post(ada).set({ Origin: "o".repeat(5_000), Host: "h".repeat(5_000) });
  expect(site.logged()).toContain(`"origin":"${"o".repeat(200)}","host":"${"h".repeat(200)}","msg":"refused`);
  await post(ada).set({ Origin: "https://www.example", Host: "upstream" });
  expect(site.logged()).toMatch(/"id":"[^"]+","origin":"https:\/\/www.example","host":"upstream","msg":"refused/);
});

it("a refused request stores nothing and returns 422 with one error per invalid field", async () => {
  const response = await post({ name: " ", email: "nonsense", company: 7, job_title: "x".repeat(101) });
  await expectRefused(response, 422);
  expect(response.body.errors).toEqual([
    { pointer: "#/name", detail: fieldErrors.required(fieldNamed("name").noun) },
    { pointer: "#/email", detail: fieldErrors.email },
    { pointer: "#/company", detail: fieldErrors.notText },
    { pointer: "#/job_title", detail: fieldErrors.tooLong(100) },
  ]);
});

it.each(["/api", "/api/other", "/api/%"])("a refused request stores nothing and returns 404 at %s", async (url) => {
  await expectRefused(await request(site.app).post(url).send(ada), 404);
});

it("a sign-up gets 503 for an error of Postgres, and the log has the code without the entry's values", async () => {
  await database.query("ALTER TABLE earlyaccess ADD CONSTRAINT refuse_every_row CHECK (name::int > 0) NOT VALID");
  const response = await post(ada);
  await database.query("ALTER TABLE earlyaccess DROP CONSTRAINT refuse_every_row");
  expectProblem(response, 503);
  expect(site.logged()).toContain("22P02"); // Its message quotes the name.
  expect(site.logged()).not.toMatch(/lovelace/i);
});
