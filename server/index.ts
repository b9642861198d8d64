// Starts and stops the site; the only file with effects.
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { Logger } from "pino";
import { createApp } from "./app.ts";
import { loadConfig, type Config } from "./config.ts";
import { connect, createPool } from "./database/connect.ts";
import { openDatabase, type OpenedDatabase } from "./database/open.ts";
import { prepareDatabase } from "./database/prepare.ts";
import { createReadiness } from "./database/readiness.ts";
import { createBuiltFrontend, createDevFrontend } from "./frontend.ts";
import { createHttpServer, gracePeriod } from "./http-server.ts";
import { createLogger } from "./logger.ts";
import { shareCounts } from "./middleware/shared-counts.ts";
import { createSignupVolume } from "./models/signup-volume.ts";
import { createWaitlist } from "./models/waitlist.ts";
import { explain } from "./operator-error.ts";
import { printable } from "./printable.ts";
import { directTimeouts, proxiedTimeouts } from "./timeouts.ts";

type Closers = (() => Promise<unknown>)[];

async function start(config: Config, log: Logger, closers: Closers, onFault: (error: unknown) => void): Promise<void> {
  const database = await openDatabase(config);
  closers.push(() => database.release());
  const stopped = new AbortController();
  const pool = createPool(database.webUrl);
  const prisma = connect(pool, log);
  closers.push(
    () => prisma.$disconnect(),
    async () => stopped.abort(),
  );

  const http = createHttpServer(config.trustProxy > 0 ? proxiedTimeouts : directTimeouts);
  // The pages name the origin, so a port that the system chooses must be known before they are rendered.
  const chosenPort = config.publicUrl || config.port ? undefined : await http.listen(config.host, 0);
  const origin = config.publicUrl ?? `http://localhost:${chosenPort ?? config.port}`;
  const site = { origin, allowIndexing: config.allowIndexing };
  const rendering = process.argv.includes("--dev") ? createDevFrontend(http.server, site) : createBuiltFrontend(site);
  rendering.catch(() => undefined); // Thrown below, once no migration is under way that the end would cut.
  await prepareDatabase({ ...database, allowPrivilegedRole: config.allowPrivilegedRole }, log, stopped.signal, onFault);
  const { inline, vite, ...frontend } = await rendering;
  const counts = config.redisUrl ? await shareCounts(config.redisUrl, database.webUrl, log) : undefined;
  if (counts) closers.push(async () => counts.close());
  const { metricsPort } = config;
  const metrics = metricsPort ? (await import("./metrics/metrics.ts")).createMetrics() : undefined;
  const volume = createSignupVolume(config.signupHourlyCeiling, log, counts?.store("new-entries"));
  const waitlist = createWaitlist(prisma, (entries, inserted) => {
    volume.add(inserted);
    metrics?.countStored(entries, inserted);
  });
  const isReady = createReadiness(waitlist.check, log);
  const app = createApp({
    log,
    answered: metrics?.countAnswer,
    waitlist: volume.limit(waitlist),
    isReady,
    ...frontend,
    policy: {
      https: origin.startsWith("https:"),
      hstsIncludeSubdomains: config.hstsIncludeSubdomains,
      ...inline,
    },
    site,
    trustProxy: config.trustProxy,
    signups: {
      limit: config.signupLimit,
      windowSeconds: config.signupWindowSeconds,
      store: counts?.store,
    },
  });
  if (metrics && metricsPort) closers.push(await metrics.serve(config.host, metricsPort, { pool, isReady }));
  http.handle(app);
  const port = chosenPort ?? (await http.listen(config.host, config.port));
  // After the HTTP server, whose last requests would wait for a closed Vite for ever.
  if (vite) closers.push(() => vite.close());
  closers.push(() => http.close());
  announce(config.host, port, database, log);
}

function announce(host: string, port: number, database: OpenedDatabase, log: Logger): void {
  if (!database.directory) return log.info({ host, port }, "listening");
  const name = host === "127.0.0.1" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  process.stdout.write(
    [
      "",
      "Perennial is ready.",
      `  Site    http://${name}:${port}`,
      `  Data    ${printable(database.directory)} (embedded Postgres)`,
      "  Browse  npm run studio",
      ...(database.senderUrl ? ["  Notify  npm run notify"] : []),
      "  Stop    Ctrl-C",
      "\n",
    ].join("\n"),
  );
}

function fail(error: unknown): void {
  process.stderr.write(explain(error));
  process.exitCode = 1;
}

function main(): void {
  // V8 lets garbage pile up to several times what is in use. By a fifth at most: a third less memory under load, for a few percent of the sign-ups.
  setFlagsFromString("--heap-growing-percent=20");
  // A terminal or pipe that is gone does not end the site.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const config = loadConfig();
  const log = createLogger(config.logLevel);
  for (const warning of config.warnings) log.warn(warning);
  const closers: Closers = [];
  let stopping = false;
  const stop = async () => {
    // npm and the terminal may both pass the same Ctrl-C on: only the first counts.
    if (stopping) return;
    stopping = true;
    // A start that hangs, on a database that does not answer, does not keep the process alive.
    await Promise.race([started, sleep(gracePeriod)]);
    for (const closer of closers.toReversed()) await closer().catch(fail);
    process.exit(); // Vite keeps timers of its own for seconds.
  };
  const failAndStop = (error: unknown) => {
    fail(error);
    void stop();
  };
  const started = start(config, log, closers, failAndStop).catch(failAndStop);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());
}

try {
  main();
} catch (error) {
  fail(error);
}
