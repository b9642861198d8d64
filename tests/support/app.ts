// The real app on a real database, as a function of what a test wants different.
import { pino } from "pino";
import * as entry from "../../client/entry-server.tsx";
import { createApp, type Parts } from "../../server/app.ts";
import { createStoredPages } from "../../server/controllers/pages.ts";
import { createSiteFiles } from "../../server/controllers/site-files.ts";
import { connect } from "../../server/database/connect.ts";
import { createReadiness } from "../../server/database/readiness.ts";
import { createWaitlist } from "../../server/models/waitlist.ts";
import { builtClient, createBuiltRenderer } from "../../server/views/renderer.ts";

export interface TestApp {
  app: ReturnType<typeof createApp>;
  /** What the app logged so far, a JSON line each. */
  logged(): string;
  close(): Promise<void>;
}

export async function createTestApp(webUrl: string, changes: Partial<Parts> = {}): Promise<TestApp> {
  let lines = "";
  const log = pino({ base: null }, { write: (line: string) => (lines += line) });
  const prisma = connect(webUrl, log);
  const site = { origin: "http://localhost:3000", allowIndexing: true, ...changes.site };
  const renderer = await createBuiltRenderer(entry, site);
  const app = createApp({
    log,
    waitlist: createWaitlist(prisma),
    isReady: createReadiness(prisma, log),
    pages: await createStoredPages(renderer),
    siteFiles: await createSiteFiles(builtClient),
    policy: { https: false, inlineStyles: renderer.inlineStyles, inlineScripts: [] },
    site,
    trustProxy: 0,
    signups: { limit: 1_000, windowSeconds: 600 },
    ...changes,
  });
  return { app, logged: () => lines, close: () => prisma.$disconnect() };
}
