// Limits that replicas share through Redis or Valkey. While Redis is unavailable, requests pass without a limit per client.
import { createHmac } from "node:crypto";
import type { Store } from "express-rate-limit";
import type { Logger } from "pino";
import { errorFields } from "../errors.ts";

/** Milliseconds that a request waits for its count. In a data centre, Redis answers within 1 ms. */
const commandTimeout = 250;

/**
 * Counts a client's request. Returns the number of its requests, and the milliseconds until the count ends. A count that lost its
 * expiry gets a new one: otherwise, it would refuse its client for ever. The package rate-limit-redis never retries to load its scripts.
 */
const countRequest = `
  local count = redis.call("INCR", KEYS[1])
  if redis.call("PTTL", KEYS[1]) < 0 then redis.call("PEXPIRE", KEYS[1], ARGV[1]) end
  return { count, redis.call("PTTL", KEYS[1]) }`;

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
  let isAvailable = true;
  /** Logs once per outage, not once per request. */
  const report = (error?: unknown) => {
    if (isAvailable === !error) return;
    isAvailable = !error;
    if (isAvailable) log.info("Redis is available: limits are shared again");
    else log.warn({ error: errorFields(error) }, "Redis is unavailable: requests pass without a limit per client");
  };
  redis.on("error", report);
  await new Promise((resolve) => redis.once("ready", resolve).once("close", resolve));

  return (name: string): Store => {
    let windowMs = 0;
    return {
      init: (options) => {
        windowMs = options.windowMs;
      },
      increment: async (client) => {
        const hash = createHmac("sha256", secret).update(client).digest("base64url");
        try {
          const count = await redis.eval(countRequest, 1, `perennial:${name}:${hash}`, windowMs);
          report();
          const [totalHits, remainingMs] = count as [number, number];
          return { totalHits, resetTime: new Date(Date.now() + remainingMs) };
        } catch (error) {
          report(error);
          throw error;
        }
      },
      // The limiter calls neither, because every request counts.
      decrement: () => undefined,
      resetKey: () => undefined,
    };
  };
}
