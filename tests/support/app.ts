// The real app on a real database, as a function of what a test wants different.
import { pino } from "pino";
import { createApp, type App, type Parts } from "../../server/app.ts";
import { connect } from "../../server/database/connect.ts";
import { createReadiness } from "../../server/database/readiness.ts";
import { createBuiltFrontend } from "../../server/frontend.ts";
import { createWaitlist } from "../../server/models/waitlist.ts";
import { keepLog } from "./sent.ts";

export interface TestApp {
  app: App;
  /** What the app logged so far, a JSON line each. */
  logged(): string;
  close(): Promise<void>;
}

export async function createTestApp(webUrl: string, changes: Partial<Parts> = {}): Promise<TestApp> {
  let lines = "";
  const log = pino({ base: null }, { write: (line: string) => (lines += line) });
  const prisma = connect(webUrl, log);
  const site = { origin: "http://localhost:3000", allowIndexing: true, ...changes.site };
  const { inline, ...frontend } = await createBuiltFrontend(site);
  const waitlist = createWaitlist(prisma);
  const app = createApp({
    log,
    waitlist,
    isReady: createReadiness(waitlist.check, log),
    ...frontend,
    policy: { https: false, ...inline },
    site,
    trustProxy: 0,
    signups: { limit: 1_000, windowSeconds: 600 },
    ...changes,
  });
  return {
    app,
    logged: () => lines,
    close: () => {
      keepLog(lines);
      return prisma.$disconnect();
    },
  };
}
