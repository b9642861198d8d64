// Notices through everything that happens to a receiver, to the sender and to Postgres: each entry confirmed once.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { migrate } from "../../server/database/migrate.ts";
import { openStand } from "../chaos/stand.ts";
import { createVisitors, type Answer } from "../chaos/visitors.ts";
import { openReceiver } from "../support/receiver.ts";
import { runSender, type Site } from "../support/site.ts";

type Query = (sql: string) => Promise<Record<string, unknown>[]>;

const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;
const perPhase = 50;
/** In milliseconds, for all notices after the receiver is back; one that hung is given up after 10 s. */
const patience = 60_000;

/**
 * @returns what was seen.
 * @throws where a sign-up is refused or kept waiting, a notice is lost, or one that was confirmed is sent again.
 */
export async function checkNotices(say: (text: string) => void): Promise<string> {
  const stand = await openStand(say);
  let receiver = await openReceiver();
  const everything = [receiver.received];
  let sender: Kept | undefined;
  try {
    await migrate({ ...stand.postgres, senderUrl: stand.postgres.ownerUrl });
    const env = {
      DATABASE_URL: stand.postgres.ownerUrl,
      NOTIFY_WEBHOOK_URL: receiver.url,
      NOTIFY_WEBHOOK_SECRET: secret,
    };
    sender = keepRunning(env);
    const site = await stand.startSite();
    const visitors = createVisitors(stand);
    const times: Record<string, number> = {};
    const phase = async (name: string) => {
      const answers = await visitors.signUp(site, perPhase, 10);
      times[name] = median(answers);
      say(`${name}: ${perPhase} sign-ups, ${times[name].toFixed(1)} ms`);
    };
    await visitors.signUp(site, perPhase, 10); // Warms up.
    await untilEmpty(stand.query);
    await phase("takes them");
    receiver.answer(500);
    await phase("fails");
    sender.kill();
    receiver.answer(0);
    await phase("hangs, and the sender is killed");
    receiver.answer(503); // Whoever is left without an answer by Postgres' end was not confirmed.
    stand.postgres.signal("SIGKILL");
    await stand.postgres.startAgain();
    await untilReady(site);
    await receiver.close();
    await phase("is away");
    receiver = await openReceiver(Number(new URL(receiver.url).port));
    everything.push(receiver.received);
    const seconds = await untilEmpty(stand.query);
    const kept = await visitors.assertKept();
    const confirmed = everything.flat().filter(({ answer }) => answer === 200);
    const ids = new Set(confirmed.map(({ headers }) => headers["webhook-id"]));
    assert.equal(kept, 5 * perPhase, "a sign-up was refused");
    assert.equal(ids.size, kept, "a notice was lost");
    assert.equal(confirmed.length, kept, "a notice was confirmed twice");
    const shown = Object.entries(times).map(
      ([name, ms]) => `${(ms / (times["takes them"] as number)).toFixed(2)} ${name}`,
    );
    return `${kept} sign-ups, each confirmed once of ${everything.flat().length} tries, ${seconds} s after the receiver was back; a sign-up takes, of what it takes otherwise: ${shown.slice(1).join(", ")}`;
  } finally {
    sender?.end();
    await receiver.close();
    await stand.close();
  }
}

interface Kept {
  kill(): void;
  end(): void;
}

/** Starts it again whenever it ends, as Docker and Kubernetes do. */
function keepRunning(env: Record<string, string>): Kept {
  let current: Site | undefined;
  let again = true;
  const start = () => {
    if (!again) return;
    current = runSender(env);
    current.process.once("exit", () => setTimeout(start, 200));
  };
  const kill = () => current?.process.kill("SIGKILL");
  start();
  return {
    kill,
    end: () => {
      again = false;
      kill();
    },
  };
}

function median(answers: Answer[]): number {
  return answers.map(({ ms }) => ms).toSorted((a, b) => a - b)[Math.floor(answers.length / 2)] as number;
}

async function untilReady(site: Site): Promise<void> {
  while ((await fetch(`${site.url}/readyz`)).status !== 200) await sleep(100);
}

/** @returns the seconds that it took. */
async function untilEmpty(query: Query): Promise<number> {
  const began = performance.now();
  for (;;) {
    const rows = await query("SELECT last_error FROM graphile_worker.jobs").catch(() => [{ last_error: "Postgres" }]);
    const ms = performance.now() - began;
    if (rows.length === 0) return Math.round(ms / 1000);
    assert(ms < patience, `${rows.length} notices are not sent: ${String(rows[0]?.last_error)}`);
    await sleep(200);
  }
}
