// Webhooks while the receiver, the worker and Postgres fail: each sign-up is delivered once.
import assert from "node:assert/strict";
import { migrate } from "../../server/database/migrate.ts";
import { createVisitors } from "../support/visitors.ts";
import { openReceiver } from "../support/receiver.ts";
import { retryJobs } from "../support/retry-jobs.ts";
import type { Say } from "../support/scenarios.ts";
import { runWorker, type Site } from "../support/site.ts";
import { withStack, type Stack } from "../support/stack.ts";
import { until } from "../support/until.ts";

const perPhase = 50;

/** Sign-ups must be neither refused nor delayed by webhooks. */
export const checkWebhooks = (say: Say) =>
  withStack(say, async (stack) => {
    const { postgres } = stack;
    let receiver = await openReceiver();
    const batches = [receiver.received];
    await migrate({ ...postgres, worker: { url: postgres.ownerUrl, tasks: ["webhook"] } });
    const done = new AbortController();
    const env = {
      DATABASE_URL: postgres.ownerUrl,
      WEBHOOK_URL: receiver.url,
      WEBHOOK_SECRET: `whsec_${Buffer.alloc(32).toString("base64")}`,
    };
    const killWorker = keepRunning(env, done.signal);
    try {
      const site = await stack.startSite();
      const visitors = createVisitors(stack);
      const medians: string[] = [];
      const signUp = async (phase: string) => {
        const times = (await visitors.signUp(site, perPhase, 10)).map(({ ms }) => ms).toSorted((a, b) => a - b);
        medians.push(`${times[perPhase / 2]?.toFixed(1)} ms (${phase})`);
      };
      await visitors.signUp(site, perPhase, 10); // Warm-up.
      await waitForDelivery(stack);
      await signUp("receiver responds");
      receiver.answer(500);
      await signUp("receiver fails");
      killWorker();
      receiver.answer(0);
      await signUp("receiver hangs");
      receiver.answer(503); // Requests without a response when Postgres is killed were not confirmed.
      postgres.signal("SIGKILL");
      await postgres.startAgain();
      await until("the site is ready", async () => (await fetch(`${site.url}/readyz`)).status === 200);
      await receiver.close();
      await signUp("receiver is down");
      receiver = await openReceiver(Number(new URL(receiver.url).port));
      batches.push(receiver.received);
      const began = performance.now();
      await waitForDelivery(stack);
      const seconds = Math.round((performance.now() - began) / 1000);
      const stored = await visitors.assertStored();
      const requests = batches.flat();
      const confirmed = requests.filter(({ answer }) => answer === 200);
      assert.equal(stored, 5 * perPhase, "a sign-up was refused");
      assert.equal(new Set(confirmed.map(({ headers }) => headers["webhook-id"])).size, stored, "a webhook was lost");
      assert.equal(confirmed.length, stored, "a webhook was confirmed twice");
      const delivered = `${stored} sign-ups, each delivered once with ${requests.length} requests in all, ${seconds} s after the last failure`;
      return `${delivered}; median time of a sign-up ${medians.join(", ")}`;
    } finally {
      done.abort();
      killWorker();
      await receiver.close();
    }
  });

/** Runs the worker, and restarts it whenever it ends, as Docker and Kubernetes do. Returns a function that kills it. */
function keepRunning(env: Record<string, string>, signal: AbortSignal): () => void {
  let worker: Site;
  const start = () => {
    if (signal.aborted) return;
    worker = runWorker(env);
    worker.process.once("exit", () => setTimeout(start, 200));
  };
  start();
  return () => worker.process.kill("SIGKILL");
}

/** The worker gives up a request without a response after 10 s. */
const waitForDelivery = ({ query }: Stack) =>
  until("all webhooks are delivered", async () => (await retryJobs(query).catch(() => 1)) === 0, 60, 1_000);
