// Three replicas behind a balancer: with Redis they allow as much as one, and without it each goes on alone.
import assert from "node:assert/strict";
import { startRedis, type RedisServer } from "../support/redis.ts";
import type { Site } from "../support/site.ts";
import type { Scenario, Stand } from "./scenario.ts";
import { visitor } from "./stand.ts";

/** A sign-up to the next replica in turn, as a balancer sends it. @returns the status. */
async function signUp(replicas: Site[], number: number, client = "203.0.113.1"): Promise<number> {
  const site = replicas[number % replicas.length] as Site;
  const response = await fetch(`${site.url}/api/earlyaccess`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Forwarded-For": client },
    body: JSON.stringify(visitor(number)),
  });
  await response.arrayBuffer();
  return response.status;
}

async function statuses(
  replicas: Site[],
  count: number,
  client?: (i: number) => string,
): Promise<Record<number, number>> {
  const seen: Record<number, number> = {};
  for (let i = 0; i < count; i++) {
    const status = await signUp(replicas, i, client?.(i));
    seen[status] = (seen[status] ?? 0) + 1;
  }
  return seen;
}

async function startReplicas(stand: Stand, redis: RedisServer, env: Record<string, string>): Promise<Site[]> {
  const given = { REDIS_URL: redis.url, TRUST_PROXY: "1", ...env };
  return Promise.all([1, 2, 3].map(() => stand.startSite(given)));
}

async function withRedis<T>(use: (redis: RedisServer) => Promise<T>): Promise<T> {
  const redis = await startRedis();
  try {
    return await use(redis);
  } finally {
    redis.signal("SIGCONT");
    await redis.stop();
  }
}

const logged = (replicas: Site[], text: string) => replicas.map((site) => site.stdout().split(text).length - 1);

export const replicas: Scenario[] = [
  {
    name: "three replicas share their limits through Redis",
    run: (stand) =>
      withRedis(async (redis) => {
        const sites = await startReplicas(stand, redis, { SIGNUP_LIMIT: "10" });
        assert.deepEqual(await statuses(sites, 30), { 201: 10, 429: 20 });
        await stand.query("TRUNCATE earlyaccess");
        const ceiling = await startReplicas(stand, redis, { SIGNUP_HOURLY_CEILING: "20" });
        assert.deepEqual(await statuses(ceiling, 60, (i) => `198.51.${i}.1`), { 201: 60 });
        const rows = await stand.query("SELECT FROM earlyaccess WHERE unusual_volume");
        // A replica learns of the others' entries with each of its own: it may be late by as many as there are others.
        assert(rows.length >= 36 && rows.length <= 40, `${rows.length} were flagged`);
        const contents = await redis.contents();
        assert(!/203\.0|198\.51|example/.test(contents), `Redis holds what names a client: ${contents}`);
        return `limit 10: 10 of 30 joined; ceiling 20: 60 joined, ${rows.length} of them flagged; no address in Redis`;
      }),
  },
  {
    name: "Redis is killed, frozen and comes back",
    run: (stand) =>
      withRedis(async (redis) => {
        const sites = await startReplicas(stand, redis, { SIGNUP_LIMIT: "10" });
        assert.deepEqual(await statuses(sites, 6), { 201: 6 });
        redis.signal("SIGKILL");
        // Each has counted two of the six, and allows eight more by itself.
        assert.deepEqual(await statuses(sites, 36), { 201: 24, 429: 12 });
        assert.deepEqual(logged(sites, "Redis is away"), [1, 1, 1]);
        await redis.startAgain();
        while (logged(sites, "Redis is back").includes(0)) await new Promise((done) => setTimeout(done, 50));
        assert.deepEqual(await statuses(sites, 30, () => "203.0.113.2"), { 201: 10, 429: 20 });
        redis.signal("SIGSTOP");
        const began = performance.now();
        assert.deepEqual(await statuses(sites, 36, () => "203.0.113.3"), { 201: 30, 429: 6 });
        const frozen = Math.round(performance.now() - began);
        redis.signal("SIGCONT");
        while (logged(sites, "Redis is back").some((times) => times < 2)) {
          await statuses(sites, 3, () => "203.0.113.4");
          await new Promise((done) => setTimeout(done, 100));
        }
        assert.deepEqual(await statuses(sites, 30, () => "203.0.113.5"), { 201: 10, 429: 20 });
        return `no sign-up got a 500; 36 of them took ${frozen} ms while it was frozen; shared again after it came back`;
      }),
  },
  {
    name: "a start without Redis",
    run: async (stand) => {
      const site = await stand.startSite({ REDIS_URL: "redis://127.0.0.1:1", SIGNUP_LIMIT: "10", TRUST_PROXY: "1" });
      assert.deepEqual(await statuses([site], 12), { 201: 10, 429: 2 });
      assert.deepEqual(logged([site], "Redis is away"), [1]);
      assert.equal(site.stderr(), "");
      return "counts alone, with one warning";
    },
  },
];
