// The sites of a browser test file: one that is open and one whose list is closed, on a database of their own.
import { afterAll, beforeAll } from "vitest";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startSite, type Site } from "./site.ts";
import { openWire, type Wire } from "./tcp-proxy.ts";

export interface BrowserSites {
  database: TestDatabase;
  /** Between the open site and Postgres. */
  wire: Wire;
  open: Site;
  closed: Site;
}

/** Starts the sites before all tests of the file and stops them after all; until then the result is empty. */
export function createBrowserSites(): BrowserSites {
  const sites = {} as BrowserSites;
  beforeAll(async () => {
    const database = await createTestDatabase();
    const wire = await openWire(database.webUrl);
    const env = { DATABASE_OWNER_URL: database.ownerUrl, SIGNUP_LIMIT: "1000" };
    const [open, closed] = await Promise.all([
      startSite({ env: { ...env, DATABASE_URL: wire.url(database.webUrl), WAITLIST_CLOSES: "9999-12-31T18:00Z" } }),
      startSite({
        env: { ...env, DATABASE_URL: database.webUrl, WAITLIST: "closed", CONTACT_EMAIL: "privacy@perennial.example" },
      }),
    ]);
    Object.assign(sites, { database, wire, open, closed });
  });
  afterAll(async () => {
    await sites.open.stop();
    await sites.closed.stop();
    await sites.wire.cut();
  });
  return sites;
}
