// The rate limiter for sign-ups: how it identifies clients and networks, and attempts to bypass it.
import { createServer } from "node:http";
import { connect } from "node:net";
import request from "supertest";
import { expect, it, vi } from "vitest";
import { createTestApp, noDatabase, type TestApp, rawRequest } from "../../tests/support/app.ts";
import { listen } from "../http/listen.ts";

const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };
const joined: string[] = [];
let site: TestApp;

async function start(limit: number, trustProxy = 0) {
  joined.length = 0;
  const waitlist = { add: async ({ email }: { email: string }) => void joined.push(email) };
  site = await createTestApp(noDatabase, { waitlist, signupLimit: limit, trustProxy });
}

const post = (headers: Record<string, string> = {}) =>
  request(site.app).post("/api/earlyaccess").set(headers).send(ada);

const rawPost = (path: string, body: string) => {
  const headers = { "Content-Type": "application/json", "Content-Length": String(body.length) };
  return rawRequest(site.app, { method: "POST", path, headers }, body);
};

/** Posts with each X-Forwarded-For header in turn, and expects the status beside it. */
async function expectStatuses(expected: Record<string, number>): Promise<void> {
  for (const [forwardedFor, status] of Object.entries(expected)) {
    const response = await post({ "X-Forwarded-For": forwardedFor });
    expect([forwardedFor, response.status]).toEqual([forwardedFor, status]);
  }
}

it("a sign-up over the limit returns 429 with Retry-After and the draft RateLimit fields, and pages are still served", async () => {
  await start(2);
  const first = await post();
  expect(first.headers.ratelimit).toBe('"client"; r=1; t=600, "network"; r=19; t=600');
  expect(first.headers).toHaveProperty("ratelimit-policy");
  await post();
  const refused = await post();
  expect([refused.status, refused.type]).toEqual([429, "application/problem+json"]);
  const advice = `${refused.body.detail} ${refused.headers["retry-after"]}`;
  expect(advice).toMatch(/^Too many requests .* as Retry-After says\. (600|599)$/);
  expect(joined).toHaveLength(2);
  expect((await request(site.app).get("/")).status).toBe(200);
});

it("a refused input counts for its network only, and a client that hangs up counts", async () => {
  await start(2);
  for (let i = 0; i < 5; i++) expect((await request(site.app).post("/api/earlyaccess").send({})).status).toBe(422);
  const server = createServer(site.app);
  const port = await listen(server, "127.0.0.1", 0);
  const head =
    "POST /api/earlyaccess HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{";
  const client = connect(port, "127.0.0.1");
  client.write(head, () => client.destroy());
  await vi.waitFor(() => expect(site.logged()).toContain('"aborted"'));
  server.close();
  expect((await post()).headers.ratelimit).toMatch(/^"client"; r=0; t=\d+, "network"; r=13;/);
});

it("the rate limiter ignores forwarding headers by default", async () => {
  await start(1);
  await post({ "X-Forwarded-For": "203.0.113.1" });
  const headers = { "X-Forwarded-For": "203.0.113.2", Forwarded: "for=203.0.113.2", "X-Real-IP": "203.0.113.2" };
  expect((await post(headers)).status).toBe(429);
});

it.each<[behaviour: string, expected: Record<string, number>, proxies?: number]>([
  ["counts the address that the proxy appended", { "203.0.113.2": 201, "198.51.100.9, 203.0.113.2": 429 }],
  [
    "heeds TRUST_PROXY=2",
    { "9.9.9.9, 203.0.113.2, 10.0.0.1": 201, "203.0.114.2, 10.0.0.1": 201, "203.0.113.2, ::1": 429 },
    2,
  ],
  ["ignores a port after the address", { "203.0.113.1:1000": 201, "203.0.113.1:1001": 429, "203.0.113.2:1000": 201 }],
  ["ignores brackets and a port", { "[2001:db8::1]:1": 201, "[2001:db9::1]:1": 201, "[2001:db8::2]": 429 }],
  ["counts invalid addresses as the proxy's", { unknown: 201, somebody: 429 }],
  ["counts an IPv6 /56 once", { "2001:db8:0:1200::1": 201, "2001:db8:0:12ff::2": 429, "2001:db8:0:1300::1": 201 }],
  ["counts each IPv4-mapped IPv6 address as one client", { "::ffff:203.0.113.1": 201, "::ffff:203.0.113.2": 201 }],
])("the rate limiter behind a proxy %s", async (_, expected, proxies = 1) => {
  await start(1, proxies);
  await expectStatuses(expected);
});

it("the rate limiter does not count cross-site requests", async () => {
  await start(1);
  expect((await post({ "Sec-Fetch-Site": "cross-site" })).status).toBe(403);
  expect((await post()).status).toBe(201);
});

it.each([
  ["an IPv4 /24", (i: number) => `203.0.113.${i}`, "203.0.113.255", "203.0.114.1"],
  ["an IPv6 /48", (i: number) => `2001:db8:0:${(i * 256).toString(16)}::1`, "2001:db8:0:ff00::1", "2001:db8:1::1"],
])("the limit of %s is ten times that of a client", async (_, member, eleventh, other) => {
  await start(1, 1);
  for (let i = 0; i < 10; i++) await expectStatuses({ [member(i)]: 201 });
  await expectStatuses({ [eleventh]: 429, [other]: 201 });
});

it("a post to a variant of the path returns 404 and stores nothing", async () => {
  await start(1);
  const variants = "/api/earlyaccess/ //api/earlyaccess /API/earlyaccess /%61pi/earlyaccess /x/../api/earlyaccess";
  for (const path of variants.split(" ")) {
    expect([path, (await rawPost(path, JSON.stringify(ada))).status]).toEqual([path, 404]);
  }
  expect(joined).toEqual([]);
});

it.each(["/api/earlyaccess?x=1", "http://other.example/api/earlyaccess"])("the limit includes %s", async (path) => {
  await start(1);
  await post();
  expect((await rawPost(path, "{}")).status).toBe(429);
});
