// Limits that replicas share through Redis or Valkey. While Redis is unavailable, requests pass without a limit per client.
import { createHmac } from "node:crypto";
import type { ClientRateLimitInfo, Options, Store } from "express-rate-limit";
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { RedisStore, type RedisReply } from "rate-limit-redis";
import { errorFields } from "../logger.ts";

/** How long a request waits for its count. In a data centre Redis answers within 1 ms. */
const commandTimeout = 250;

/**
 * Resolves once Redis is connected or has refused, so that the first requests are limited, too. The connection ends with the process.
 * @param secret the key of the hashes that stand for clients' addresses in Redis; the same for every replica.
 */
export async function connectRedis(redisUrl: string, secret: string, log: Logger) {
  const { Redis } = await import("ioredis"); // Half a megabyte that most sites do not need.
  const redis = new Redis(redisUrl, {
    commandTimeout,
    connectTimeout: 2_000,
    enableOfflineQueue: false,
    retryStrategy: () => 1_000,
  });
  const report = reportAvailability(log);
  redis.on("error", report);
  await new Promise((resolve) => redis.once("ready", resolve).once("close", resolve));
  return (name: string) => createStore(redis, `perennial:${name}:`, secret, report);
}

type Report = (error?: unknown) => void;

/** Logs once per outage, not once per request. */
function reportAvailability(log: Logger): Report {
  let isAvailable = true;
  return (error) => {
    if (isAvailable === !error) return;
    isAvailable = !error;
    if (isAvailable) log.info("Redis is available: limits are shared again");
    else log.warn({ error: errorFields(error) }, "Redis is unavailable: requests pass without a limit per client");
  };
}

function createStore(redis: Redis, prefix: string, secret: string, report: Report): Store {
  class SharedStore extends RedisStore {
    override prefixKey(key: string): string {
      return this.prefix + createHmac("sha256", secret).update(key).digest("base64url");
    }

    /** Loads the store's scripts. It would remember a failure, and the limit would have no effect: connect again. */
    override async init(options: Options): Promise<void> {
      try {
        await super.init(options);
        report();
      } catch (error) {
        report(error);
        redis.disconnect(true);
      }
    }

    override async increment(key: string): Promise<ClientRateLimitInfo> {
      try {
        const count = await super.increment(key);
        report();
        return count;
      } catch (error) {
        report(error);
        throw error;
      }
    }
  }

  const sendCommand = (command: string, ...args: string[]) => redis.call(command, ...args) as Promise<RedisReply>;
  const store = new SharedStore({ prefix, sendCommand });
  redis.on("ready", () => void store.init({ windowMs: store.windowMs } as Options));
  return store;
}
