// The limit on sign-ups: who counts as one client, and what cannot be forged.
import request from "supertest";
import { afterEach, expect, it } from "vitest";
import { createTestApp, type TestApp } from "../../tests/support/app.ts";

const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };
const joined: string[] = [];
let site: TestApp;

async function start(limit: number, trustProxy = 0) {
  joined.length = 0;
  site = await createTestApp("postgresql://unused:unused@127.0.0.1:1/unused", {
    waitlist: { join: async ({ email }) => void joined.push(email) },
    signups: { limit, windowSeconds: 600 },
    trustProxy,
  });
}

afterEach(() => site.close());

const post = (headers: Record<string, string> = {}) =>
  request(site.app).post("/api/earlyaccess").set(headers).send(ada);

it("answers 429 with Retry-After and the draft fields, and stores nothing more", async () => {
  await start(2);
  const first = await post();
  expect(first.headers).toMatchObject({
    ratelimit: '"2-in-10min"; r=1; t=600',
    "ratelimit-policy": expect.stringContaining("q=2; w=600"),
  });
  await post();
  const refused = await post();
  expect([refused.status, refused.type]).toEqual([429, "application/problem+json"]);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect(refused.headers.ratelimit).toContain("r=0");
  expect(joined).toHaveLength(2);
});

it("counts before it reads, so that refused and broken bodies cost their sender, too", async () => {
  await start(1);
  expect((await request(site.app).post("/api/earlyaccess").type("json").send("{")).status).toBe(400);
  expect((await request(site.app).post("/api/earlyaccess").type("json").send("{")).status).toBe(429);
});

it("is the client's own: reading pages costs nothing and is never refused", async () => {
  await start(1);
  await post();
  expect((await post()).status).toBe(429);
  expect((await request(site.app).get("/")).status).toBe(200);
});

it("ignores forged forwarding headers by default", async () => {
  await start(1);
  await post({ "X-Forwarded-For": "203.0.113.1" });
  const headers = { "X-Forwarded-For": "203.0.113.2", Forwarded: "for=203.0.113.2", "X-Real-IP": "203.0.113.2" };
  expect((await post(headers)).status).toBe(429);
});

it("behind one proxy believes only what that proxy appended", async () => {
  await start(1, 1);
  expect((await post({ "X-Forwarded-For": "203.0.113.1" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "203.0.113.2" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "198.51.100.9, 203.0.113.2" })).status).toBe(429);
});

it("behind a proxy that appends ports as well counts addresses, and what is none as the proxy", async () => {
  await start(1, 1);
  expect((await post({ "X-Forwarded-For": "203.0.113.1:1000" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "203.0.113.1:1001" })).status).toBe(429);
  expect((await post({ "X-Forwarded-For": "[2001:db8::1]:1000" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "[2001:db8::1]:1001" })).status).toBe(429);
  expect((await post({ "X-Forwarded-For": "unknown" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "somebody" })).status).toBe(429);
});

it("takes a /56 of IPv6 for one client, and each IPv4 address for one, also when it is mapped", async () => {
  await start(1, 1);
  expect((await post({ "X-Forwarded-For": "2001:db8:0:1200::1" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "2001:db8:0:12ff::2" })).status).toBe(429);
  expect((await post({ "X-Forwarded-For": "2001:db8:0:1300::1" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "::ffff:203.0.113.1" })).status).toBe(201);
  expect((await post({ "X-Forwarded-For": "::ffff:203.0.113.2" })).status).toBe(201);
});
