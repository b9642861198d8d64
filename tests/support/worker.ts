// The worker within this process, sign-ups over HTTP at an app of the same database, and both with a mail server.
import { pino } from "pino";
import request from "supertest";
import { afterEach, beforeEach, onTestFailed, onTestFinished } from "vitest";
import { signupPath } from "../../client/shared/paths.ts";
import { readConfig } from "../../server/config/load-config.ts";
import { openDatabase } from "../../server/database/open-database.ts";
import type { DatabaseSettings } from "../../server/config/database-urls.ts";
import { runTasks } from "../../server/worker/worker.ts";
import { createTestApp } from "./app.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { openMailServer, type MailServer } from "./mail-server.ts";
import { outputs, runWorker, until, within, type Site } from "./run.ts";

/** What a site or worker with mails needs beside its connections and SMTP_URL. */
export const mailSettings = {
  MAIL_FROM: "Perennial <hello@perennial.example>",
  PUBLIC_URL: "https://perennial.example",
};

/** Starts the built worker, which is killed with the test. */
export async function startWorkerProcess(env: Record<string, string>): Promise<Site> {
  const worker = runWorker(env);
  onTestFinished(() => void worker.process.kill("SIGKILL"));
  await until("the worker started", () => worker.stdout().includes("worker started"), 50);
  return worker;
}

/** Starts a worker, which ends with the test. @throws the error that ends it at its start. */
export async function startWorker(env: Record<string, string>, roundMs?: number) {
  const config = readConfig(env);
  const stop = new AbortController();
  let lines = "";
  let failure: unknown;
  const log = pino({ base: null }, { write: (line: string) => (lines += line) });
  const working = runTasks(await openDatabase(config, "WORKER_DATABASE_URL"), config, log, stop.signal, roundMs).catch(
    (error: unknown) => {
      failure = error;
    },
  );
  /** Ends as with SIGTERM, which completes the jobs in progress. */
  const end = () => {
    stop.abort();
    return within("the end of the worker", working);
  };
  onTestFinished(end);
  // It says why a mail or a webhook did not come.
  onTestFailed(({ task }) => void process.stderr.write(`The worker's log in "${task.name}":\n${lines}`));
  await until("the worker started", () => {
    if (failure) throw failure;
    return /worker started|waiting for its end/.test(lines);
  });
  const read = () => lines;
  outputs.add(read);
  return { log: read, failure: () => failure, stop: end };
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

/** Makes a database, a mail server, sign-ups and settings of the worker for each test of confirmation mails. */
export function createMailFixture() {
  const fixture = { database: {} as TestDatabase, server: {} as MailServer };
  let signUp: SignUp;
  beforeEach(async () => {
    fixture.database = await createTestDatabase("mail");
    fixture.server = await openMailServer();
    signUp = await openSignUps(fixture.database);
  });
  afterEach(() => fixture.server.close());
  const query = (sql: string, values?: unknown[]) => fixture.database.query(sql, values);
  const settings = () => ({ ...mailSettings, DATABASE_URL: fixture.database.workerUrl, SMTP_URL: fixture.server.url });
  /** Lets all jobs run now. Without a notification, the worker would look for them within two seconds. */
  const hasten = () =>
    query(`UPDATE graphile_worker._private_jobs SET run_at = now(); NOTIFY "jobs:insert", '{"count":4}'`);
  return Object.assign(fixture, {
    query,
    settings,
    hasten,
    startWorker: (env: Record<string, string> = {}) => startWorker({ ...settings(), ...env }),
    signUp: (...args: Parameters<SignUp>) => signUp(...args),
    /** Resolves after `count` complete messages in all. */
    mailed: (count: number) => until(`${count} mails`, () => fixture.server.mails.length >= count),
    /** Resolves when every job is done. */
    emptied: () => emptied(fixture.database),
    /** Resolves when one job waits without an attempt, until the next day or for the number of days. */
    waitsUntilTomorrow: (days = 1) =>
      until("a job waits until tomorrow", async () => {
        const [job, ...others] = await query(
          `SELECT attempts = 0 AND max_attempts = 25 AND run_at BETWEEN now() + interval '${days} days' - interval '10 minutes'
             AND now() + interval '${days} days' AS waits FROM graphile_worker.jobs`,
        );
        return job?.waits && others.length === 0;
      }),
    /** Resolves with the fault of the one job, after the attempt. */
    failed: () => {
      const lastError = async () => (await query("SELECT last_error FROM graphile_worker.jobs"))[0]?.last_error;
      return until("a job failed", lastError as () => Promise<string>, 50);
    },
    /** Lets one day or several pass for all mails, erasures and jobs. */
    passDay: async (days = 1) => {
      const passed = `interval '${days} days'`;
      await query(`UPDATE earlyaccess SET mailed_at = mailed_at - ${passed};
        UPDATE earlyaccess_kept.addresses SET erased_at = erased_at - ${passed}, left_at = left_at - ${passed}`);
      await hasten();
    },
  });
}
