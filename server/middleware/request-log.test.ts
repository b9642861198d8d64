// The id of a request, in its response and in the log.
import request from "supertest";
import { expect, it } from "vitest";
import { createTestApp, noDatabase } from "../../tests/support/app.ts";

const given = "0af7651916cd43dd8448eb211c80319c";

it("the request log takes over the id of a trusted proxy in the response and in the log", async () => {
  const site = await createTestApp(noDatabase, { trustProxy: 1 });
  const { headers } = await request(site.app).get("/").set("X-Request-Id", given);
  expect(headers["x-request-id"]).toBe(given);
  expect(site.logged()).toContain(`"id":"${given}"`);
});

it.each([
  ["that comes without a proxy", 0, given],
  ["of 65 characters", 1, "x".repeat(65)],
  ["that could be an address", 1, "ada@example.com"],
])("the request log ignores an id %s", async (_, trustProxy, id) => {
  const site = await createTestApp(noDatabase, { trustProxy });
  const { headers } = await request(site.app).get("/").set("X-Request-Id", id);
  expect(headers["x-request-id"]).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  expect(site.logged()).not.toContain(id);
});
