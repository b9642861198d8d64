// Whatever is sent as a sign-up: no fault of ours, no stack, and what is stored is what was sent.
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { sendHostileBodies } from "./support/hostile-bodies.ts";
import { startSite, type Site } from "./support/site.ts";

let database: TestDatabase;
let site: Site;

beforeAll(async () => {
  database = await createTestDatabase();
  site = await startSite({
    env: { DATABASE_URL: database.webUrl, SIGNUP_LIMIT: "1000000", SIGNUP_HOURLY_CEILING: "0" },
  });
});

afterAll(async () => {
  await site.stop();
  await database.drop();
});

// npm run test:chaos sends twenty times as many. A failure names its seed; FUZZ_SEED=… repeats it.
it("survives 2,000 hostile bodies, and stores exactly those that it accepts", async () => {
  const joined = await sendHostileBodies(site.url, database.query, 20);
  expect(joined).toBeGreaterThan(200); // Otherwise the bodies would be too odd to show anything.
  expect(site.process.exitCode).toBeNull();
  expect(site.stderr()).toBe("");
});
