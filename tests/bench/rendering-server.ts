// The same app, with its pages rendered by React for every request: what keeping them ready is compared with.
import { pino } from "pino";
import * as entry from "../../client/entry-server.tsx";
import { createApp } from "../../server/app.ts";
import { createErrorPages, livePages } from "../../server/controllers/pages.ts";
import { createHttpServer } from "../../server/http-server.ts";
import { createBuiltRenderer } from "../../server/views/renderer.ts";

const site = { origin: "http://localhost:3000", allowIndexing: true };
const renderer = await createBuiltRenderer(entry, site);
const http = createHttpServer();
http.handle(
  createApp({
    log: pino({ base: null }),
    waitlist: { join: async () => undefined },
    isReady: async () => true,
    findStored: () => undefined,
    development: [livePages(renderer)],
    errorPages: await createErrorPages(renderer),
    policy: { https: false, inlineStyles: renderer.inlineStyles, inlineScripts: [] },
    site,
    trustProxy: 0,
    signups: { limit: 1, windowSeconds: 1 },
  }),
);
await http.listen("127.0.0.1", Number(process.env.PORT));
