// A database, a mail server and the built worker, for the tests of confirmation mails.
import { afterEach, beforeEach } from "vitest";
import { migrate } from "../../server/database/migrate.ts";
import { createEmptyDatabase, type TestDatabase } from "./database.ts";
import { killedAfterEach } from "./killed-after-each.ts";
import { openMailServer, type MailServer, type MailServerOptions } from "./mail-server.ts";
import { queryAs } from "./query.ts";
import { ready, runWorker, startSite, type Site } from "./site.ts";
import { until } from "./until.ts";
import { hashToken } from "../../server/models/token.ts";

const erasureKey = "a key of 32 characters for tests".replaceAll(" ", "-");
const origin = "https://perennial.example";

export interface MailFixture {
  database: TestDatabase;
  server: MailServer;
  /** Replaces the mail server; its messages so far are gone. */
  openServer: (options?: MailServerOptions) => Promise<void>;
  settings: () => Record<string, string>;
  startWorker: (env?: Record<string, string>) => Promise<Site>;
  signUp: (email: string, changes?: Record<string, unknown>) => Promise<number>;
  /** Resolves after `count` complete messages in all. */
  mailed: (count: number) => Promise<void>;
  /** Resolves when every job is done. */
  emptied: () => Promise<void>;
  /** Resolves when one job waits for the next day without an attempt. */
  waitsUntilTomorrow: () => Promise<void>;
  /** Resolves with the fault of the one job, after the attempt. */
  failed: () => Promise<string>;
  /** Lets all jobs run now. */
  hasten: () => Promise<void>;
  /** Lets a day pass for all mails, erasures and jobs. */
  passDay: () => Promise<void>;
  /** Clicks on "Leave the list" in the latest mail. */
  leave: () => Promise<void>;
}

export function createMailFixture(): MailFixture {
  const running = killedAfterEach();
  const fixture = {} as MailFixture;
  let site: Site | undefined;
  beforeEach(async () => {
    const empty = await createEmptyDatabase();
    fixture.database = { ...empty, erasureKey, worker: { url: empty.workerUrl, tasks: ["mail"] } };
    await migrate(fixture.database);
    fixture.server = await openMailServer();
    site = undefined;
  });
  afterEach(async () => {
    await fixture.server.close();
    for (const started of running.splice(0)) await started.stop("SIGKILL");
    await fixture.database.drop();
  });
  const query = (sql: string) => fixture.database.query(sql);
  const jobs = () =>
    query("SELECT attempts, last_error, run_at > now() + interval '12 hours' AS later FROM graphile_worker.jobs");
  return Object.assign(fixture, {
    openServer: async (options?: MailServerOptions) => {
      await fixture.server.close();
      fixture.server = await openMailServer(options);
    },
    settings: () => ({
      DATABASE_URL: fixture.database.workerUrl,
      MAIL_FROM: "Perennial <hello@perennial.example>",
      SMTP_URL: fixture.server.url,
      ERASURE_KEY: erasureKey,
      PUBLIC_URL: origin,
    }),
    startWorker: async (env: Record<string, string> = {}) => {
      const worker = runWorker({ ...fixture.settings(), ...env });
      running.push(worker);
      await until("the worker started", () => {
        if (worker.process.exitCode !== null) throw new Error(`It ended: ${worker.stdout()}${worker.stderr()}`);
        return worker.stdout().includes("worker started");
      });
      return worker;
    },
    signUp: async (email: string, changes?: Record<string, unknown>) => {
      if (!site) {
        running.push((site = await startSite({ env: { DATABASE_URL: fixture.database.webUrl } })));
        await ready(site);
      }
      const body = JSON.stringify({ name: "Ada Lovelace", email, company: "Engines", ...changes });
      const headers = { "Content-Type": "application/json" };
      return (await fetch(`${site.url}/api/earlyaccess`, { method: "POST", headers, body })).status;
    },
    mailed: (count: number) =>
      until(`${count} mails`, () => fixture.server.mails.length >= count).then(() => undefined),
    emptied: () => until("the queue is empty", async () => (await jobs()).length === 0).then(() => undefined),
    waitsUntilTomorrow: async () => {
      await until("a job waits until tomorrow", async () => {
        const [job, ...others] = await jobs();
        return job?.later && job.attempts === 0 && others.length === 0;
      });
    },
    failed: () =>
      until("a job failed", async () => (await jobs())[0]?.last_error as string | undefined, 50) as Promise<string>,
    hasten: async () => void (await query("UPDATE graphile_worker._private_jobs SET run_at = now()")),
    passDay: async () => {
      await query("UPDATE earlyaccess SET mailed_at = mailed_at - interval '1 day'");
      await query("UPDATE earlyaccess_erasures.addresses SET erased_at = erased_at - interval '1 day'");
      await fixture.hasten();
    },
    leave: async () => {
      const [, token = ""] = /^List-Unsubscribe:\s+<\S+\?token=([\w-]{22})>\r?$/m.exec(lastMail(fixture.server)) ?? [];
      await queryAs(fixture.database.webUrl, "SELECT earlyaccess_leave($1)", [hashToken(token)]);
    },
  });
}

const lastMail = ({ mails }: MailServer) => mails.at(-1)?.raw ?? "";
