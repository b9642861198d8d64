// The request path, from top to bottom.
import type { IncomingMessage, ServerResponse } from "node:http";
import express, { type Express, type RequestHandler } from "express";
import type { Logger } from "pino";
import { signupPath, unknownAddress } from "../client/addresses.ts";
import { joinWaitlist, readEntry, type ParseEntry } from "./controllers/early-access.ts";
import { live, ready } from "./controllers/health.ts";
import type { ErrorPages } from "./controllers/pages.ts";
import { isRead } from "./http-method.ts";
import { readBody } from "./middleware/body.ts";
import { answerErrors, answerFault, methodNotAllowed, notFound } from "./middleware/errors.ts";
import { requestLog, type Answered } from "./middleware/request-log.ts";
import { sameOrigin } from "./middleware/same-origin.ts";
import { securityHeaders, type SecurityPolicy } from "./middleware/security-headers.ts";
import { signupLimit, type SignupLimits } from "./middleware/signup-limit.ts";
import type { Waitlist } from "./models/waitlist.ts";
import { findHeaderFault, refuseBadHeaders } from "./request-headers.ts";
import type { PublicSite } from "./views/head.ts";
import { sendStored, type FindStored } from "./views/stored-response.ts";

export interface Parts {
  log: Logger;
  waitlist: Waitlist;
  isReady: () => Promise<boolean>;
  /** Files and pages that are the same for everybody, ready to be sent. */
  findStored: FindStored;
  /** In development Vite and the pages that change with every save; none in production. */
  development: RequestHandler[];
  /** In development, replaces the model's function by one that reads the current fields and texts of client/. */
  parseEntry?: ParseEntry;
  errorPages: ErrorPages;
  policy: SecurityPolicy;
  site: PublicSite;
  trustProxy: number;
  signups: SignupLimits;
  /** Counts what was answered, where that is asked for. */
  answered?: Answered | undefined;
}

/** A listener for Node's server. */
export type App = ((req: IncomingMessage, res: ServerResponse) => void) & {
  /** Answers what is not ready. */
  express: Express;
  /** Of every answer, names and values by turns. */
  headers: readonly string[];
};

export function createApp(parts: Parts): App {
  const logRequest = requestLog(parts.log, parts.answered);
  const headers = Object.entries({
    ...securityHeaders(parts.policy),
    ...(parts.site.allowIndexing ? {} : { "X-Robots-Tag": "noindex" }),
  });
  const flatHeaders = headers.flat();
  const app = createRoutes(parts);

  function answer(req: IncomingMessage, res: ServerResponse): void {
    let id = "";
    try {
      req.url = ownTarget(req.url ?? "");
      const [path = "", query = ""] = req.url.split("?", 2);
      id = logRequest(req, res, path);
      const routed = isRouted(path);
      // Before Express sees them, as its routing would cost a third of the throughput.
      const stored = routed || findHeaderFault(req) ? undefined : parts.findStored(path, query);
      if (stored && (isRead(req) || stored.status === 404)) {
        sendStored(req, res, stored, [...flatHeaders, "X-Request-Id", id]);
      } else {
        // No route is longer, and none has a query; Express would parse both.
        if (routed) req.url = path.slice(0, routeLength);
        for (const [name, value] of headers) res.setHeader(name, value);
        res.setHeader("X-Request-Id", id);
        app(req, res);
      }
    } catch (error) {
      answerFault(error, res, [...flatHeaders, "X-Request-Id", id], parts.log);
    }
  }
  return Object.assign(answer, { express: app, headers: flatHeaders });
}

/** In characters. */
const routeLength = 100;

/** What is below in createRoutes; any other address is that of a page or a file. */
function isRouted(path: string): boolean {
  return path === "/healthz" || path === "/readyz" || path === "/api" || path.startsWith("/api/");
}

function createRoutes(parts: Parts): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag"); // Stored answers bring their own; no other is asked for twice.
  app.set("trust proxy", parts.trustProxy);
  // One spelling for each address: a variant is another address, and so a 404 and never a way around a limit.
  app.enable("case sensitive routing");
  app.enable("strict routing");

  app.use(refuseBadHeaders);
  app.get("/healthz", live);
  app.get("/readyz", ready(parts.isReady));

  app.post(
    signupPath,
    sameOrigin(parts.site.origin),
    signupLimit(parts.signups),
    readBody,
    readEntry(parts.parseEntry),
    joinWaitlist(parts.waitlist),
  );
  app.all(signupPath, methodNotAllowed("POST"));
  app.use("/api", notFound);

  app.use(...parts.development, methodNotAllowed("GET, HEAD"));

  app.use(answerErrors(parts.errorPages, parts.log));
  return app;
}

/** Scheme, host and port of a whole address as request target. Not URL, which takes long for an international host. */
const authority = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?(?=[/?]|$)/i;

/** Returns the path and query of a request target; for one that is neither a path nor a whole address, those of an unknown page. */
function ownTarget(target: string): string {
  if (target.startsWith("/")) return target;
  if (!authority.test(target)) return unknownAddress;
  const rest = target.replace(authority, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
}
