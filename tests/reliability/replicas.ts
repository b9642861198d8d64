// Three replicas of the site: with Redis they share their limits, and without it sign-ups pass.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { createHmac } from "node:crypto";
import { Redis } from "ioredis";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { findProgram, type Site, until } from "../support/run.ts";
import { postSignup } from "../support/site.ts";
import { signupBody, type Stack, type StackScenarios } from "../support/stack.ts";

export const replicas: StackScenarios = {
  "three replicas share their limits through Redis, which is killed and frozen": async (stack) => {
    const redis = await startRedis();
    try {
      const sites = await startReplicas(stack, redis.url);
      let clients = 0;
      const isShared = async () => {
        const statuses = await countStatuses(sites, 30, `203.0.113.${++clients}`);
        return statuses[201] === 10 && statuses[429] === 20;
      };
      assert(await isShared(), "the replicas do not share their limits");
      const keys = await redis.client.keys("*");
      const contents = JSON.stringify([keys, await redis.client.mget(keys)]);
      assert(!/203\.0|example/.test(contents), `Redis holds a client's data: ${contents}`);
      // Without a secret, a reader of Redis could try all addresses.
      const secret = decodeURIComponent(new URL(stack.postgres.webUrl).password);
      const name = createHmac("sha256", secret).update("203.0.113.1").digest("base64url");
      assert(contents.includes(name), "Redis names no client by a hash with the secret");
      const [key = ""] = await redis.client.keys(`*:${name}`);
      await redis.client.persist(key);
      await countStatuses(sites, 1, "203.0.113.1");
      const ttl = await redis.client.pttl(key);
      assert(ttl > 0 && ttl <= 600_000, `a count that expires after ${ttl} ms refuses its client for too long`);
      const visitor = `203.0.113.${++clients}`;
      const link = { method: "POST", headers: { "X-Forwarded-For": visitor } };
      for (let i = 0; i < 10; i++) await fetch(`${sites[0]?.url}/leave?token=${"A".repeat(22)}`, link);
      assert.deepEqual(await countStatuses(sites, 1, visitor), { 201: 1 }, "links have a limit of their own");
      const faults: [begin: () => void, end: () => unknown][] = [
        [() => redis.signal("SIGKILL"), () => redis.start()],
        [() => redis.signal("SIGSTOP"), () => redis.signal("SIGCONT")],
      ];
      for (const [begin, end] of faults) {
        begin();
        assert.deepEqual(await countStatuses(sites, 12, `203.0.113.${++clients}`), { 201: 12 });
        await end();
        await until("the replicas share their limits again", isShared);
      }
      return "limit 10: 10 of 30 sign-ups stored; no client's data in Redis; no sign-up failed without Redis";
    } finally {
      redis.end();
      redis.signal("SIGKILL");
    }
  },
};

/** Sends sign-ups to the replicas in turn, as a load balancer does. Returns the number of responses per status. */
async function countStatuses(sites: Site[], count: number, client: string): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let i = 0; i < count; i++) {
    const response = await postSignup(sites[i % sites.length] as Site, signupBody(i), { "X-Forwarded-For": client });
    await response.arrayBuffer();
    counts[response.status] = (counts[response.status] ?? 0) + 1;
  }
  return counts;
}

/** The replicas' URLs of the database differ, as on several machines. */
const startReplicas = (stack: Stack, redisUrl: string) =>
  Promise.all(
    [1, 2, 3].map((replica) =>
      stack.startSite({
        REDIS_URL: redisUrl,
        DATABASE_URL: `${stack.postgres.webUrl}&application_name=replica-${replica}`,
        TRUST_PROXY: "1",
        SIGNUP_LIMIT: "10",
      }),
    ),
  );

/** Starts a real Redis or Valkey that stores nothing on disk. */
async function startRedis() {
  const program = findProgram("redis-server", "valkey-server");
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const options = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => 50 });
  client.on("error", () => undefined);
  let server: ChildProcess | undefined;
  /** Starts it, empty, on the same port. */
  const start = async () => {
    server = spawn(program, options, { stdio: "ignore" });
    await until("Redis responds", async () => (await client.ping().catch(() => "")) === "PONG");
  };
  await start();
  const signal = (name: NodeJS.Signals) => server?.kill(name);
  return { url, client, start, signal, end: () => client.disconnect() };
}
