// The request path, from top to bottom.
// What /readyz checks: models/waitlist.ts.
import express from "express";
import { signupPath, viewPath } from "../client/shared/paths.ts";
import { earlyAccess, type EarlyAccessOptions } from "./controllers/early-access.ts";
import { entryLinks } from "./controllers/links.ts";
import { findCached, pages } from "./controllers/pages.ts";
import { countViews } from "./controllers/page-views.ts";
import { noStore, sendCached } from "./http/cached-response.ts";
import { isRead } from "./http/negotiation.ts";
import { maxHeaders, type Application } from "./http/server.ts";
import { handleErrors, HttpError } from "./middleware/http-errors.ts";
import { createRequestLog, type RequestLogOptions } from "./middleware/request-log.ts";
import { securityHeaders } from "./middleware/security-headers.ts";
import type { EntryLinks } from "./models/entry-links.ts";
import type { PageViews } from "./models/page-views.ts";
import type { Frontend } from "./views/frontend.ts";

export interface AppOptions extends EarlyAccessOptions, RequestLogOptions {
  frontend: Frontend;
  isReady: () => Promise<boolean>;
  links: EntryLinks;
  pageViews: PageViews;
}

export function createApp(options: AppOptions): Application {
  const { log, site, frontend, isReady, signupLimit, links, pageViews, trustProxy } = options;
  const { getPage, errorPage, vite } = frontend;
  const constantHeaders = securityHeaders({
    https: site.origin.startsWith("https:"),
    inline: frontend.inline,
    allowIndexing: site.allowIndexing,
  });
  const logRequest = createRequestLog(options);
  const app = express();

  const listener: Application["listener"] = (req, res) => {
    // 1. Every response: request id, log and security headers
    const headers = ["X-Request-Id", logRequest(req, res), ...constantHeaders];
    if (req.rawHeaders.length >= 2 * maxHeaders) return res.writeHead(431, headers).end();
    // 2. Prerendered pages and files, before Express, whose routing costs a third of the throughput
    const cached = isRead(req) ? findCached(req, frontend) : undefined;
    if (cached) return sendCached(req, res, cached, headers);
    for (let i = 0; i < headers.length; i += 2) res.setHeader(headers[i] as string, headers[i + 1] as string);
    app(req, res);
  };

  app.disable("x-powered-by");
  app.disable("etag"); // Cached responses have their own; no client keeps the others.
  app.set("trust proxy", trustProxy);
  // Each path has one spelling: a variant is a 404, and never a way around a limit.
  app.enable("case sensitive routing");
  app.enable("strict routing");
  if (vite) app.use(vite); // In development, instead of 2

  // 3. Health and API
  app.get("/healthz", (_req, res) => res.set(noStore).json({ status: "ok" }));
  app.get("/readyz", async (_req, res) => {
    const ok = await isReady();
    res
      .status(ok ? 200 : 503)
      .set(noStore)
      .json({ status: ok ? "ok" : "database unavailable" });
  });
  app.all(signupPath, earlyAccess(options, getPage));
  app.use(entryLinks(links, signupLimit, getPage));
  app.all(viewPath, countViews(pageViews, signupLimit, site.origin, log));
  app.use("/api", () => {
    throw new HttpError(404, "There is nothing at this address.");
  });

  // 4. Pages that are rendered for the request
  app.use(pages(frontend));

  // 5. Errors
  app.use(handleErrors(errorPage, log));

  return { listener, express: app };
}
