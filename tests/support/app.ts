// The app of a test: the real one on a real database, with the options that the test changes, and requests that supertest would correct.
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type RequestListener, type RequestOptions } from "node:http";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import type { PageSettings, SiteSettings } from "../../client/shared/site-settings.ts";
import { createApp, type AppOptions } from "../../server/app.ts";
import { connect } from "../../server/database/site-database.ts";
import { listen } from "../../server/http/listen.ts";
import { createEntryLinks } from "../../server/models/entry-links.ts";
import { createNotice } from "../../server/models/page-settings.ts";
import { createReadiness, createWaitlist } from "../../server/models/waitlist.ts";
import { createBuiltFrontend, type Frontend } from "../../server/views/frontend.ts";
import type { PublicSite } from "../../server/views/document.ts";
import { outputs, within } from "./run.ts";

export type TestApp = Awaited<ReturnType<typeof createTestApp>>;

/** The settings of a site whose operator set none. */
export const defaultSettings: SiteSettings = {
  links: [],
  retentionMonths: 0,
  unconfirmedDays: 0,
  mail: false,
  closed: false,
};

export const testSettings: PageSettings = { ...defaultSettings, notice: createNotice(defaultSettings).id };

/** The URL of a database that does not exist. */
export const noDatabase = "postgresql://unused:unused@127.0.0.1:1/unused";

const frontends = new Map<string, Promise<Frontend>>();

/** Renders and compresses the pages of a site once. */
function frontendOf(site: PublicSite): Promise<Frontend> {
  const key = JSON.stringify(site);
  const frontend = frontends.get(key) ?? createBuiltFrontend(site);
  frontends.set(key, frontend);
  return frontend;
}

type Changes = Partial<Omit<AppOptions, "site">> & { site?: Partial<PublicSite> };

/** No test needs to close it: the pool closes a connection that is idle for 10 s. */
export async function createTestApp(webUrl = noDatabase, { site: siteChanges, ...changes }: Changes = {}) {
  let lines = "";
  const log = pino({ base: null }, { write: (line: string) => (lines += line) });
  const database = connect(webUrl, log);
  const waitlist = createWaitlist(database.execute);
  // Loads Prisma and connects: on a busy machine, the first sign-up would exceed its deadline.
  if (webUrl !== noDatabase) await waitlist.check().catch(() => undefined);
  const site = { origin: "http://localhost:3000", allowIndexing: true, settings: testSettings, ...siteChanges };
  const options: AppOptions = {
    log,
    site,
    frontend: await frontendOf(site),
    isReady: createReadiness(waitlist.check, log),
    waitlist,
    undo: true,
    links: createEntryLinks(database.query),
    pageViews: { add: () => undefined, close: async () => undefined },
    signupLimit: 1_000,
    trustProxy: 0,
    ...changes,
  };
  const application = createApp(options);
  /** Returns the log, one JSON line per entry. */
  const logged = () => lines;
  outputs.add(logged);
  /** Where the app does not answer, the use of the console fails the test by the name of the request. */
  const app: RequestListener = (req, res) => {
    const limit = setTimeout(() => {
      console.error(`no response after 30 s: ${req.method} ${req.url}`);
      res.destroy();
    }, 30_000);
    res.once("close", () => clearTimeout(limit));
    application.listener(req, res);
  };
  return { app, application, options, logged };
}

/** Sends a request that Node leaves unchanged, where supertest would correct it. */
export async function rawRequest(app: RequestListener, options: RequestOptions, body?: Buffer | string) {
  const server = createServer(app);
  const port = await listen(server, "127.0.0.1", 0);
  const sent = request({ host: "127.0.0.1", port, ...options }).end(body);
  const [response] = (await within(`the response of ${options.path}`, once(sent, "response"))) as [IncomingMessage];
  const answer = await text(response);
  server.close();
  const [type = ""] = (response.headers["content-type"] ?? "").split(";");
  return { status: response.statusCode as number, type, text: answer };
}
