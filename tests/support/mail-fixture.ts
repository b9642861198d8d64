// A database, a mail server, sign-ups and the worker, for the tests of confirmation mails.
import { afterEach, beforeEach } from "vitest";
import { createTestDatabase, erasureKey, type TestDatabase } from "./database.ts";
import { openMailServer, type MailServer } from "./mail-server.ts";
import { until } from "./until.ts";
import { emptied, openSignUps, startWorker, type SignUp } from "./worker.ts";

export function createMailFixture() {
  const fixture = { database: {} as TestDatabase, server: {} as MailServer };
  let signUp: SignUp;
  beforeEach(async () => {
    fixture.database = await createTestDatabase("mail");
    fixture.server = await openMailServer();
    signUp = await openSignUps(fixture.database);
  });
  afterEach(() => fixture.server.close());
  const query = (sql: string) => fixture.database.query(sql);
  const settings = () => ({
    DATABASE_URL: fixture.database.workerUrl,
    MAIL_FROM: "Perennial <hello@perennial.example>",
    SMTP_URL: fixture.server.url,
    ERASURE_KEY: erasureKey,
    PUBLIC_URL: "https://perennial.example",
  });
  /** Lets all jobs run now. */
  const hasten = () => query("UPDATE graphile_worker._private_jobs SET run_at = now()");
  return Object.assign(fixture, {
    settings,
    hasten,
    startWorker: (env: Record<string, string> = {}) => startWorker({ ...settings(), ...env }),
    signUp: (...args: Parameters<SignUp>) => signUp(...args),
    /** Resolves after `count` complete messages in all. */
    mailed: (count: number) => until(`${count} mails`, () => fixture.server.mails.length >= count),
    /** Resolves when every job is done. */
    emptied: () => emptied(fixture.database),
    /** Resolves when one job waits without an attempt, until the next day or for so many days. */
    waitsUntilTomorrow: (days = 1) =>
      until("a job waits until tomorrow", async () => {
        const [job, ...others] = await query(
          `SELECT attempts = 0 AND run_at BETWEEN now() + interval '${days} days' - interval '10 minutes'
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
      await query(`UPDATE earlyaccess SET mailed_at = mailed_at - ${passed}`);
      await query(
        `UPDATE earlyaccess_erasures.addresses SET erased_at = erased_at - ${passed}, left_at = left_at - ${passed}`,
      );
      await hasten();
    },
  });
}
