// Three replicas of the site: with Redis they share their limits, and without it sign-ups pass.
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { Redis } from "ioredis";
import { freePort } from "../../server/http/listen.ts";
import { findProgram } from "../support/programs.ts";
import type { Site } from "../support/site.ts";
import { signupBody, type Stack, type StackScenarios } from "../support/stack.ts";
import { until } from "../support/until.ts";
import { postSignup } from "../support/visitors.ts";

export const replicas: StackScenarios = {
  "three replicas share their limits through Redis": (stack) =>
    withRedis(async (redis) => {
      const sites = await startReplicas(stack, redis);
      assert.deepEqual(await countStatuses(sites, 30), { 201: 10, 429: 20 });
      const contents = await redis.contents();
      assert(!/203\.0|198\.51|example/.test(contents), `Redis holds a client's data: ${contents}`);
      return "limit 10: 10 of 30 sign-ups stored; no client's data in Redis";
    }),
  "Redis is killed, restarted, frozen and resumed": (stack) =>
    withRedis(async (redis) => {
      const sites = await startReplicas(stack, redis);
      assert.deepEqual(await countStatuses(sites, 6), { 201: 6 });
      const before = countLines(sites, "Redis is unavailable"); // On a busy machine, an answer may come too late.
      redis.signal("SIGKILL");
      assert.deepEqual(await countStatuses(sites, 36), { 201: 36 });
      const warnings = countLines(sites, "Redis is unavailable");
      assert.deepEqual(
        warnings,
        before.map((times) => times + 1),
      );
      await redis.start();
      await until("all use Redis again", () => isShared(sites));
      assert.deepEqual(await countStatuses(sites, 30, "203.0.113.2"), { 201: 10, 429: 20 });
      redis.signal("SIGSTOP");
      const began = performance.now();
      assert.deepEqual(await countStatuses(sites, 12, "203.0.113.3"), { 201: 12 });
      const frozen = Math.round(performance.now() - began);
      redis.signal("SIGCONT");
      await until("all use Redis again", async () => {
        await countStatuses(sites, 3, "203.0.113.4");
        return isShared(sites);
      });
      assert.deepEqual(await countStatuses(sites, 30, "203.0.113.5"), { 201: 10, 429: 20 });
      return `no sign-up failed; 12 took ${frozen} ms while Redis was frozen; limits shared again afterwards`;
    }),
  "the site starts before Redis": (stack) =>
    withRedis(async (redis) => {
      redis.signal("SIGKILL");
      const sites = await startReplicas(stack, redis);
      assert.deepEqual(await countStatuses(sites, 12), { 201: 12 });
      assert.deepEqual(countLines(sites, "Redis is unavailable"), [1, 1, 1]);
      for (const site of sites) assert.equal(site.stderr(), "");
      await redis.start();
      await until("all use Redis", () => isShared(sites));
      assert.deepEqual(await countStatuses(sites, 30), { 201: 10, 429: 20 });
      return "no limit before, with one warning; limits shared afterwards";
    }),
};

/** Sends sign-ups to the replicas in turn, as a load balancer does. Returns the number of responses per status. */
async function countStatuses(sites: Site[], count: number, client = "203.0.113.1"): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (let i = 0; i < count; i++) {
    const response = await postSignup(sites[i % sites.length] as Site, signupBody(i), client);
    await response.arrayBuffer();
    counts[response.status] = (counts[response.status] ?? 0) + 1;
  }
  return counts;
}

/** Their URLs of the database differ, as those of replicas on several machines may. */
const startReplicas = (stack: Stack, redis: RedisServer) =>
  Promise.all(
    [1, 2, 3].map((replica) =>
      stack.startSite({
        REDIS_URL: redis.url,
        DATABASE_URL: `${stack.postgres.webUrl}?application_name=replica-${replica}`,
        TRUST_PROXY: "1",
        SIGNUP_LIMIT: "10",
      }),
    ),
  );

/** How often the log of each site contains the text. */
const countLines = (sites: Site[], text: string) => sites.map((site) => site.stdout().split(text).length - 1);

/** Whether each site has logged the end of every outage that it has logged. */
const isShared = (sites: Site[]) =>
  sites.every((site) => /.*Redis is (\w+)(?!.*Redis is )/s.exec(site.stdout())?.[1] === "available");

interface RedisServer {
  url: string;
  signal(name: NodeJS.Signals): void;
  /** Starts it, empty, on the same port. */
  start(): Promise<void>;
  /** Every key and value. */
  contents(): Promise<string>;
}

/** Runs a real Redis or Valkey that stores nothing on disk. */
async function withRedis(use: (redis: RedisServer) => Promise<string>): Promise<string> {
  const program = findProgram("redis-server", "valkey-server");
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const options = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => 50 });
  client.on("error", () => undefined);
  let server: ChildProcess | undefined;
  const start = async () => {
    server = spawn(program, options, { stdio: "ignore" });
    await until("Redis responds", async () => (await client.ping().catch(() => "")) === "PONG");
  };
  const contents = async () => {
    const keys = await client.keys("*");
    return JSON.stringify({ keys, values: await Promise.all(keys.map((key) => client.get(key))) });
  };
  try {
    await start();
    return await use({ url, start, contents, signal: (name) => server?.kill(name) });
  } finally {
    client.disconnect();
    server?.kill("SIGKILL");
  }
}
