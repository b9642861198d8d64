// The sites of a browser test file: one that is open and one whose list is closed, on a database of their own.
import { afterAll } from "vitest";
import { createTestDatabase } from "./database.ts";
import { startSite } from "./site.ts";
import { openWire } from "./tcp-proxy.ts";

/** Starts the sites, which end after all tests of the file. */
export async function createBrowserSites() {
  const database = await createTestDatabase();
  const wire = await openWire(database.webUrl);
  const env = { DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: "1000" };
  const [open, closed] = await Promise.all([
    startSite({ env: { ...env, DATABASE_URL: wire.url(database.webUrl), WAITLIST_CLOSES: "9999-12-31T18:00Z" } }),
    startSite({
      env: { ...env, DATABASE_URL: database.webUrl, WAITLIST: "closed", CONTACT_EMAIL: "privacy@perennial.example" },
    }),
  ]);
  afterAll(async () => {
    await open.stop();
    await closed.stop();
    await wire.cut();
  });
  /** The wire is between the open site and Postgres. */
  return { database, wire, open, closed };
}
