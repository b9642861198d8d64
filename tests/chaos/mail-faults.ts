// Faults of the mail server. Every sign-up is stored meanwhile, and its confirmation mail goes out afterwards, once.
import assert from "node:assert/strict";
import { migrate } from "../../server/database/migrate.ts";
import { openMailServer, type MailServer } from "../support/mail-server.ts";
import { retryJobs } from "../support/retry-jobs.ts";
import { runWorker } from "../support/site.ts";
import type { Stack, StackScenarios } from "../support/stack.ts";
import { until } from "../support/until.ts";
import { assertConfirmed, createVisitors } from "../support/visitors.ts";

const perPhase = 50;
const erasureKey = "a-key-of-32-characters-for-tests";

export const mailFaults: StackScenarios = {
  "the mail server defers, hangs and is away": async (stack) => {
    const { postgres } = stack;
    await migrate({ ...postgres, erasureKey, worker: { url: postgres.ownerUrl, tasks: ["mail"] } });
    let server = await openMailServer();
    const accepted = [server.mails];
    const worker = startWorker(stack, server);
    try {
      const site = await stack.startSite();
      const visitors = createVisitors(stack);
      const signUp = async () => assertConfirmed(await visitors.signUp(site, perPhase, 10));
      await signUp();
      server.fail("recipient", "450 4.2.0 later,");
      await signUp();
      server.fail("connect", "hang");
      await signUp();
      await until("the worker gives up waiting", () => worker.stdout().includes("GREETING_TIMEOUT"));
      await server.close();
      await signUp();
      server = await openMailServer({ port: Number(new URL(server.url).port) });
      accepted.push(server.mails);
      const began = performance.now();
      await signUp();
      await until("all mails are sent", async () => (await retryJobs(stack.query)) === 0, 120, 1_000);
      const seconds = Math.round((performance.now() - began) / 1000);
      const stored = await visitors.assertStored();
      assert.equal(stored, 5 * perPhase, "a sign-up was refused");
      const recipients = accepted.flat().map(({ to }) => to);
      assert.equal(new Set(recipients).size, stored, "a mail was lost");
      assert.equal(recipients.length, stored, "a mail was sent twice");
      assert(!/@|lovelace/i.test(worker.stdout()), "the worker's log has an address or a name");
      return `${stored} sign-ups got 201, and one mail each, the last one ${seconds} s after the server was back`;
    } finally {
      await worker.stop("SIGKILL");
      await server.close();
    }
  },
};

const startWorker = ({ postgres }: Stack, { url }: MailServer) =>
  runWorker({
    DATABASE_URL: postgres.ownerUrl,
    MAIL_FROM: "hello@perennial.example",
    SMTP_URL: url,
    ERASURE_KEY: erasureKey,
    PUBLIC_URL: "https://perennial.example",
  });
