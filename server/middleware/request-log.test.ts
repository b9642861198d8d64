// The id of a request, in its response and in the log.
import request from "supertest";
import { expect, it } from "vitest";
import { createTestApp, noDatabase } from "../../tests/support/app.ts";

it("the request log has the id of the response, and none that a client chose", async () => {
  const site = await createTestApp(noDatabase, { trustProxy: 1 });
  const { headers } = await request(site.app).get("/").set("X-Request-Id", "ada@example.com");
  expect(site.logged()).toContain(`"id":"${headers["x-request-id"]}"`);
  expect(site.logged()).not.toContain("ada@example.com");
  await site.close();
});
