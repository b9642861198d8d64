// A database, a mail server, sign-ups and the worker, for the tests of confirmation mails.
import { afterEach, beforeEach } from "vitest";
import { hashToken } from "../../server/models/entry-links.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { openMailServer, type MailServer, type MailServerOptions } from "./mail-server.ts";
import { queryAs } from "./query.ts";
import { erasureKey } from "./templates.ts";
import { until } from "./until.ts";
import { emptied, openSignUps, startWorker, type SignUp, type Worker } from "./worker.ts";

export interface MailFixture {
  database: TestDatabase;
  server: MailServer;
  /** Replaces the mail server; its messages so far are gone. */
  openServer: (options?: MailServerOptions) => Promise<void>;
  settings: () => Record<string, string>;
  startWorker: (env?: Record<string, string>) => Promise<Worker>;
  signUp: SignUp;
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
  const fixture = {} as MailFixture;
  let signUp: SignUp | undefined;
  beforeEach(async () => {
    fixture.database = await createTestDatabase("mail");
    fixture.server = await openMailServer();
    signUp = undefined;
  });
  afterEach(() => fixture.server.close());
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
      PUBLIC_URL: "https://perennial.example",
    }),
    startWorker: (env: Record<string, string> = {}) => startWorker({ ...fixture.settings(), ...env }),
    signUp: async (...args: Parameters<SignUp>) => (signUp ??= await openSignUps(fixture.database))(...args),
    mailed: async (count: number) => void (await until(`${count} mails`, () => fixture.server.mails.length >= count)),
    emptied: () => emptied(fixture.database),
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
      const { raw = "" } = fixture.server.mails.at(-1) ?? {};
      const [, token = ""] = /^List-Unsubscribe:\s+<\S+\?token=([\w-]{22})>\r?$/m.exec(raw) ?? [];
      await queryAs(fixture.database.webUrl, "SELECT earlyaccess_leave($1)", [hashToken(token)]);
    },
  });
}
