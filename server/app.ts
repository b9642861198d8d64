// The request path, from top to bottom.
import express, { type Express, type RequestHandler } from "express";
import type { Logger } from "pino";
import { signupPath } from "../client/addresses.ts";
import { indexing, robots, sitemap } from "./controllers/crawlers.ts";
import { joinWaitlist } from "./controllers/early-access.ts";
import { live, ready } from "./controllers/health.ts";
import type { Pages } from "./controllers/pages.ts";
import { readBody } from "./middleware/body.ts";
import { answerErrors, methodNotAllowed, notFound } from "./middleware/errors.ts";
import { requestLog } from "./middleware/request-log.ts";
import { sameOrigin } from "./middleware/same-origin.ts";
import { securityHeaders, type SecurityPolicy } from "./middleware/security-headers.ts";
import { signupLimit } from "./middleware/signup-limit.ts";
import type { Waitlist } from "./models/waitlist.ts";
import type { PublicSite } from "./views/head.ts";

export interface Parts {
  log: Logger;
  waitlist: Waitlist;
  isReady: () => Promise<boolean>;
  pages: Pages;
  /** Built files in production, Vite's middleware in development. */
  siteFiles: RequestHandler;
  policy: SecurityPolicy;
  site: PublicSite;
  trustProxy: number;
  signups: { limit: number; windowSeconds: number };
}

export function createApp(parts: Parts): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag"); // Stored pages bring their own; no other answer is asked for twice.
  app.set("trust proxy", parts.trustProxy);
  // One spelling for each address: a variant is another address, and so a 404 and never a way around a limit.
  app.enable("case sensitive routing");
  app.enable("strict routing");

  app.use(requestLog(parts.log));
  app.use(securityHeaders(parts.policy));
  app.use(indexing(parts.site));
  app.get("/healthz", live);
  app.get("/readyz", ready(parts.isReady));
  app.post(
    signupPath,
    signupLimit(parts.signups),
    sameOrigin(parts.site.origin),
    readBody,
    joinWaitlist(parts.waitlist),
  );
  app.all(signupPath, methodNotAllowed("POST"));
  app.use("/api", notFound);
  app.get("/robots.txt", robots(parts.site));
  app.get("/sitemap.xml", sitemap(parts.site));
  app.use(parts.siteFiles);
  app.use(parts.pages.send);
  app.use(answerErrors(parts.pages, parts.log));
  return app;
}
