// Starts and stops the site; the only file with effects.
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { loadConfig } from "./config.ts";
import { createHttpServer, gracePeriod } from "./http-server.ts";
import { createLogger } from "./logger.ts";
import { explain } from "./operator-error.ts";
import { start, type Start } from "./start.ts";
import { directTimeouts, proxiedTimeouts } from "./timeouts.ts";

/** Listens first: while one process replaces another, requests wait for the rest of the start instead of being refused. */
async function listenAndStart(site: Omit<Start, "port">): Promise<void> {
  const port = await site.http.listen(site.config.host, site.config.port);
  await start({ ...site, port });
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
  const http = createHttpServer(config.trustProxy > 0 ? proxiedTimeouts : directTimeouts);
  const closers: Start["closers"] = [];
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
  const started = listenAndStart({ config, log, http, closers, onFault: failAndStop }).catch(failAndStop);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());
}

try {
  main();
} catch (error) {
  fail(error);
}
