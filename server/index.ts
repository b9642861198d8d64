// The composition root: starts and stops the site.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "./config/settings.ts";
import { createApp } from "./app.ts";
import { databaseOf } from "./config/database-urls.ts";
import { listWarnings, loadConfig } from "./config/load-config.ts";
import { connect } from "./database/site-database.ts";
import { openDatabase, type OpenedDatabase } from "./database/open-database.ts";
import { awaitWebRole } from "./database/web-role.ts";
import { createHttpServer } from "./http/server.ts";
import { timeLimits } from "./config/time-limits.ts";
import { createLogger } from "./logger.ts";
import { createEntryLinks } from "./models/entry-links.ts";
import { createPageSettings } from "./models/page-settings.ts";
import { createPageViews } from "./models/page-views.ts";
import { createReadiness, createWaitlist, webStatements } from "./models/waitlist.ts";
import { fail, printable } from "./errors.ts";
import { createBuiltFrontend } from "./views/frontend.ts";
import { createDevFrontend } from "./views/development.ts";

const isDev = process.argv.includes("--dev");

/** Shutdown hooks, run in reverse order: requests end first, the embedded Postgres last. */
type Cleanups = (() => unknown)[];

async function start(config: Config, log: Logger, cleanups: Cleanups) {
  const opened = await openDatabase(config, "DATABASE_URL");
  for (const warning of listWarnings(config)) log.warn(warning);
  cleanups.push(() => opened.release());
  const stopped = new AbortController();
  let isAccepted = false;
  const database = connect(opened.webUrl, log, () => isAccepted);
  cleanups.push(
    () => database.close(),
    () => stopped.abort(),
  );

  const http = createHttpServer();
  const origin = config.PUBLIC_URL ?? `http://localhost:${config.PORT}`;
  const { settings, notice } = createPageSettings(config);
  const site = { origin, allowIndexing: config.ALLOW_INDEXING, settings };
  const waitlist = createWaitlist(database.execute, notice);
  const needs = { allowPrivilegedRole: config.ALLOW_PRIVILEGED_ROLE, statements: webStatements };
  const examined = awaitWebRole(opened.webUrl, needs, log, stopped.signal, () => void (isAccepted = true));
  const frontend = await (isDev ? createDevFrontend(http.server, site) : createBuiltFrontend(site));

  const pageViews = createPageViews(database.execute, log);
  cleanups.push(() => pageViews.close());
  const isReady = createReadiness(waitlist.check, log);

  http.serve(
    createApp({
      log,
      site,
      frontend,
      isReady,
      waitlist,
      undo: config.MAIL_FROM === undefined,
      links: createEntryLinks(database.query),
      pageViews,
      signupLimit: config.SIGNUP_LIMIT,
      trustProxy: config.TRUST_PROXY,
    }),
  );
  const port = await http.listen(config.HOST, config.PORT);
  // Loads Prisma, which no page needs, and stores the notice; a fault shows at the next check.
  void examined.then(waitlist.check).catch(() => undefined);
  // In development, the connections of open pages to Vite would outlast the server.
  if (!isDev) cleanups.push(() => http.close());
  logUrl(config.HOST, port, opened, log);
}

function logUrl(host: string, port: number, database: OpenedDatabase, log: Logger) {
  if (!database.directory) return log.info({ host, port, database: databaseOf(database.webUrl) }, "listening");
  // With "localhost", a browser might reach another program that listens on ::1.
  const name = host.includes(":") ? `[${host}]` : host;
  const lines = [
    "",
    "Perennial is ready.",
    `  Site    http://${name}:${port}`,
    `  Data    ${printable(database.directory)} (embedded Postgres)`,
    "  Browse  npm run studio",
    ...(database.worker ? ["  Worker  npm run worker"] : []),
    "  Stop    Ctrl-C",
    "\n",
  ];
  process.stdout.write(lines.join("\n"));
}

function main() {
  // A closed terminal or pipe does not end the site.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const config = loadConfig();
  const log = createLogger(config.LOG_LEVEL);
  const cleanups: Cleanups = [];
  let stopping = false;
  const stop = async () => {
    // npm and the terminal may both forward the same Ctrl-C; only the first one counts.
    if (stopping) return;
    stopping = true;
    // Do not wait for ever for a start that waits for the embedded Postgres.
    await Promise.race([started, sleep(timeLimits.grace)]);
    for (const cleanup of cleanups.toReversed()) {
      try {
        await cleanup();
      } catch (error) {
        fail(error);
      }
    }
    // process.exit() drops what a pipe did not take yet.
    await new Promise((resolve) => process.stderr.write("", resolve));
    process.exit(); // Vite's own timers run for seconds.
  };
  const started = start(config, log, cleanups).catch((error: unknown) => {
    fail(error);
    void stop();
  });
  // SIGHUP: the terminal was closed. SIGBREAK: Windows has no SIGTERM that a process could handle.
  for (const signal of ["SIGINT", "SIGHUP", "SIGBREAK"] as const) process.on(signal, () => void stop());
  // In development, tsx sends it after an edit: the process ends at once, and leaves the embedded Postgres to the next.
  if (!isDev) process.on("SIGTERM", () => void stop());
}

try {
  main();
} catch (error) {
  fail(error);
}
