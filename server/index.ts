// Starts and stops the site; the only file with effects.
import { randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import type { ViteDevServer } from "vite";
import { createApp } from "./app.ts";
import { ConfigurationError, loadConfig, type Config } from "./config.ts";
import { createLivePages, createStoredPages, type Pages } from "./controllers/pages.ts";
import { createSiteFiles } from "./controllers/site-files.ts";
import { connect } from "./database/connect.ts";
import { openDatabase, type OpenedDatabase } from "./database/open.ts";
import { prepareDatabase } from "./database/prepare.ts";
import { createReadiness } from "./database/readiness.ts";
import { MissingRightError } from "./database/roles.ts";
import { close, listen } from "./http-server.ts";
import { createLogger } from "./logger.ts";
import type { SecurityPolicy } from "./middleware/security-headers.ts";
import { createWaitlist } from "./models/waitlist.ts";
import type { PublicSite } from "./views/head.ts";
import { builtClient, createBuiltRenderer, createDevRenderer } from "./views/renderer.ts";

interface Frontend {
  pages: Pages;
  siteFiles: RequestHandler;
  inline: Pick<SecurityPolicy, "inlineStyles" | "inlineScripts">;
  vite?: ViteDevServer;
}

type Closers = (() => Promise<unknown>)[];

async function start(config: Config, log: Logger, closers: Closers, onFault: (error: unknown) => void): Promise<void> {
  const database = await openDatabase(config);
  closers.push(() => database.release());
  const stopped = new AbortController();
  await prepareDatabase(database, log, stopped.signal, onFault);
  const prisma = connect(database.webUrl, log);
  closers.push(
    () => prisma.$disconnect(),
    async () => stopped.abort(),
  );

  const site = { origin: config.publicUrl, allowIndexing: config.allowIndexing };
  const server = createServer();
  const { pages, siteFiles, inline, vite } = await createFrontend(server, site);
  if (vite) closers.push(() => vite.close());
  const app = createApp({
    log,
    waitlist: createWaitlist(prisma),
    isReady: createReadiness(prisma),
    pages,
    siteFiles,
    policy: { https: config.publicUrl.startsWith("https:"), ...inline },
    site,
    trustProxy: config.trustProxy,
    signups: {
      limit: config.signupLimit,
      windowSeconds: config.signupWindowSeconds,
    },
  });
  server.on("request", app);
  const port = await listen(server, config.host, config.port);
  closers.push(() => close(server));
  announce(config.host, port, database, log);
}

async function createFrontend(server: Server, site: PublicSite): Promise<Frontend> {
  if (process.argv.includes("--dev")) return createDevFrontend(server, site);
  const renderer = await createBuiltRenderer(await import("../client/entry-server.tsx"), site);
  return {
    pages: await createStoredPages(renderer),
    siteFiles: await createSiteFiles(builtClient),
    inline: { inlineStyles: renderer.inlineStyles, inlineScripts: [] },
  };
}

async function createDevFrontend(server: Server, site: PublicSite): Promise<Frontend> {
  const { createServer: createVite } = await import("vite");
  const nonce = randomBytes(16).toString("base64");
  const vite = await createVite({
    server: { middlewareMode: true, hmr: { server } },
    appType: "custom",
    html: { cspNonce: nonce },
  });
  const renderer = createDevRenderer(vite, nonce, site);
  return {
    pages: await createLivePages(renderer),
    siteFiles: vite.middlewares,
    inline: {
      inlineStyles: renderer.inlineStyles,
      inlineScripts: renderer.inlineStyles,
    },
    vite,
  };
}

function announce(host: string, port: number, database: OpenedDatabase, log: Logger): void {
  if (!database.directory) return log.info({ host, port }, "listening");
  const name = host === "127.0.0.1" ? "localhost" : host;
  process.stdout.write(
    [
      "",
      "Perennial is ready.",
      `  Site    http://${name}:${port}`,
      `  Data    ${database.directory} (embedded Postgres)`,
      "  Browse  npm run studio",
      "  Stop    Ctrl-C",
      "\n",
    ].join("\n"),
  );
}

/** A fault that the operator can mend is said in a sentence, any other with its stack. */
function explain(error: unknown): string {
  const forOperator = error instanceof ConfigurationError || error instanceof MissingRightError;
  return `${forOperator ? error.message : error instanceof Error ? error.stack : String(error)}\n`;
}

function fail(error: unknown): void {
  process.stderr.write(explain(error));
  process.exitCode = 1;
}

function main(): void {
  const config = loadConfig();
  const log = createLogger(config.logLevel);
  const closers: Closers = [];
  let stopping = false;
  const stop = async () => {
    // npm and the terminal may both pass the same Ctrl-C on: only the first counts.
    if (stopping) return;
    stopping = true;
    await started;
    for (const closer of closers.toReversed()) await closer();
    process.exit(); // Vite keeps timers of its own for seconds.
  };
  const failAndStop = (error: unknown) => {
    fail(error);
    void stop().catch(fail);
  };
  const started = start(config, log, closers, failAndStop).catch(failAndStop);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop().catch(fail));
}

try {
  main();
} catch (error) {
  fail(error);
}
