// The worker within this process, and sign-ups over HTTP at an app of the same database.
import { pino } from "pino";
import request from "supertest";
import { onTestFinished } from "vitest";
import { signupPath } from "../../client/shared/paths.ts";
import { readConfig } from "../../server/config.ts";
import { openDatabase, type DatabaseSettings } from "../../server/database/settings.ts";
import { runTasks } from "../../server/worker/worker.ts";
import { createTestApp } from "./app.ts";
import { until } from "./until.ts";

export type Worker = Awaited<ReturnType<typeof startWorker>>;

/** Starts a worker, which ends with the test. @throws the error that ends it at its start. */
export async function startWorker(env: Record<string, string>, roundMs?: number) {
  const config = readConfig(env);
  const stop = new AbortController();
  let lines = "";
  let failure: unknown;
  const log = pino({ base: null }, { write: (line: string) => (lines += line) });
  const working = runTasks(await openDatabase(config), config, log, stop.signal, roundMs).catch((error: unknown) => {
    failure = error;
  });
  /** Ends as with SIGTERM, which completes the jobs in progress. */
  const end = () => (stop.abort(), working);
  onTestFinished(end);
  await until("the worker started", () => {
    if (failure) throw failure;
    return /worker started|waiting for its end/.test(lines);
  });
  return { log: () => lines, failure: () => failure, stop: end };
}

export type SignUp = (email: string, changes?: object) => Promise<number>;

/** Opens an app. Returns a function that signs up and resolves with the status. */
export async function openSignUps({ webUrl }: DatabaseSettings): Promise<SignUp> {
  const site = await createTestApp(webUrl);
  return async (email, changes) => {
    const entry = { name: "Ada Lovelace", email, company: "Engines", ...changes };
    return (await request(site.app).post(signupPath).send(entry)).status;
  };
}

/** Resolves when the queue is empty. */
export async function emptied(database: { query: (sql: string) => Promise<unknown[]> }): Promise<void> {
  const waiting = () => database.query("SELECT FROM graphile_worker.jobs");
  await until("the queue is empty", async () => (await waiting()).length === 0);
}
