// The request path, from top to bottom.
import type { RequestListener } from "node:http";
import express from "express";
import type { Logger } from "pino";
import { earlyAccess, type EarlyAccessOptions } from "./controllers/early-access.ts";
import { createFastPath } from "./controllers/fast-path.ts";
import { entryLinks } from "./controllers/links.ts";
import { live, ready } from "./controllers/health.ts";
import { pages, staticFiles } from "./controllers/pages.ts";
import { countPageViews, viewBeacon } from "./controllers/views.ts";
import type { Application } from "./http/server.ts";
import { apiNotFound, handleErrors } from "./middleware/errors.ts";
import { refuseBadHeaders } from "./middleware/request-headers.ts";
import { logRequests, requestLog, type OnResponse } from "./middleware/request-log.ts";
import { securityHeaders, setHeaders } from "./middleware/security-headers.ts";
import { warnOfProxy, type SignupLimits } from "./middleware/rate-limit.ts";
import type { EntryLinks } from "./models/entry-links.ts";
import type { PageViews } from "./models/page-views.ts";
import type { Frontend } from "./views/frontend.ts";
import type { PublicSite } from "./views/head.ts";

export interface AppOptions extends Pick<EarlyAccessOptions, "waitlist" | "undo" | "onRefused"> {
  log: Logger;
  site: PublicSite;
  frontend: Frontend;
  isReady: () => Promise<boolean>;
  signups: SignupLimits;
  links: EntryLinks;
  /** Counts the views of the landing page; undefined counts none. */
  views?: PageViews | undefined;
  /** The number of proxies in front. */
  trustProxy: number;
  hstsIncludeSubdomains?: boolean;
  onResponse?: OnResponse | undefined;
  /** False sends every request through Express. The responses are the same. */
  fastPath?: boolean;
}

export function createApp(options: AppOptions): Application {
  const { log, isReady, waitlist, signups, links, undo, views, trustProxy, hstsIncludeSubdomains, onResponse } =
    options;
  const { origin, allowIndexing, viewBeacon: hasBeacon } = options.site;
  const { renderer, files, prerendered, findPage, errorPage, inline, vite } = options.frontend;
  const https = origin.startsWith("https:");
  const headers = securityHeaders({ https, hstsIncludeSubdomains, inline, allowIndexing });
  const logRequest = requestLog(log, onResponse);
  const countView = views && !hasBeacon ? countPageViews(views, origin) : undefined;

  const app = express();
  app.disable("x-powered-by");
  app.disable("etag"); // Cached responses have their own; no other response is requested twice.
  app.set("trust proxy", trustProxy);
  // Each address has one spelling: a variant is a 404, and never a way around a limit.
  app.enable("case sensitive routing");
  app.enable("strict routing");

  app.use(logRequests(logRequest));
  app.use(setHeaders(headers));
  app.use(refuseBadHeaders);
  app.all("/healthz", live);
  app.all("/readyz", ready(isReady));
  const isOpen = () => !options.site.settings().closed;
  app.use(
    earlyAccess({ origin, isOpen, limits: signups, waitlist, undo, renderer, log, onRefused: options.onRefused }),
  );
  app.use(entryLinks(links, signups, findPage));
  if (views && hasBeacon) app.use(viewBeacon(views, origin));
  app.use("/api", apiNotFound);
  app.use(staticFiles(files));
  if (vite) app.use(vite.middlewares);
  app.use(pages(renderer, findPage, countView));
  app.use(handleErrors(errorPage, log));

  // Two look-ups, because the frontend replaces pages when the list closes.
  const cache = { get: (address: string) => prerendered.get(address) ?? files.get(address) };
  const fastCache = options.fastPath === false ? new Map() : cache;
  const sendFromCache = createFastPath(fastCache, logRequest, headers, countView);
  const checkProxy = trustProxy === 0 ? warnOfProxy(log) : undefined;
  const listener: RequestListener = (req, res) => {
    checkProxy?.(req);
    if (!sendFromCache(req, res)) app(req, res);
  };
  return { listener, express: app, headers };
}
