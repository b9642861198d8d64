// npm run worker: sends webhooks and mails, and deletes old entries, until it is stopped; in the image node dist/server/worker.js.
import { withDatabase } from "../database/open-database.ts";
import { createLogger } from "../logger.ts";
import { fail } from "../errors.ts";
import { runTasks } from "./worker.ts";

const stop = new AbortController();
// A closed terminal takes no output.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"] as const) process.once(signal, () => stop.abort());
try {
  await withDatabase("WORKER_DATABASE_URL", (database, config) =>
    runTasks(database, config, createLogger(config.LOG_LEVEL), stop.signal),
  );
} catch (error) {
  fail(error);
}
// process.exit() drops what a pipe did not take yet.
await new Promise((resolve) => process.stderr.write("", resolve));
process.exit();
