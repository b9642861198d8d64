// Puts the site together: database, pages, limits, metrics and the app.
import type { Logger } from "pino";
import { createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { connect, createPool } from "./database/connect.ts";
import { openDatabase, type OpenedDatabase } from "./database/open.ts";
import { prepareDatabase } from "./database/prepare.ts";
import { createReadiness } from "./database/readiness.ts";
import { createBuiltFrontend, createDevFrontend } from "./frontend.ts";
import type { HttpServer } from "./http-server.ts";
import { shareCounts } from "./middleware/shared-counts.ts";
import { createSignupVolume } from "./models/signup-volume.ts";
import { createWaitlist } from "./models/waitlist.ts";
import { printable } from "./printable.ts";

export interface Start {
  config: Config;
  log: Logger;
  http: HttpServer;
  /** Where it listens. */
  port: number;
  /** What ends the site, in the order in which it started. */
  closers: (() => Promise<unknown>)[];
  /** Called with an error after the start that the site cannot survive. */
  onFault: (error: unknown) => void;
}

/** Resolves once the site answers requests. @throws OperatorError if the operator has to act. */
export async function start({ config, log, http, port, closers, onFault }: Start): Promise<void> {
  const database = await openDatabase(config);
  closers.push(() => database.release());
  const stopped = new AbortController();
  const pool = createPool(database.webUrl);
  const prisma = connect(pool, log);
  closers.push(
    () => prisma.$disconnect(),
    async () => stopped.abort(),
  );

  const origin = config.publicUrl ?? `http://localhost:${port}`;
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
