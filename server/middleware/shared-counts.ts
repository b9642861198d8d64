// Limits that replicas share through Redis or Valkey. While Redis is unavailable, each replica counts in its own memory.
import { createHmac } from "node:crypto";
import type { ClientRateLimitInfo, Options, Store } from "express-rate-limit";
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { RedisStore, type RedisReply } from "rate-limit-redis";
import { errorFields } from "../database/error-fields.ts";
import { MonotonicStore } from "./monotonic-store.ts";

/** How long a sign-up waits for Redis, in milliseconds. In a data centre Redis answers within 1 ms. */
const commandTimeoutMs = 250;
/** How long sign-ups do not use Redis after an error, in milliseconds. */
const pauseMs = 2_000;

export interface SharedCounts {
  /** Creates the store of one limit. */
  store: (name: string) => Store;
  close: () => void;
}

/**
 * Resolves once Redis is connected or has refused.
 * @param secret the key of the hashes that stand for clients' addresses in Redis; the same for every replica.
 */
export async function shareCounts(redisUrl: string, secret: string, log: Logger): Promise<SharedCounts> {
  const { Redis } = await import("ioredis"); // Half a megabyte that most sites do not need.
  const redis = new Redis(redisUrl, {
    commandTimeout: commandTimeoutMs,
    connectTimeout: 2_000,
    enableOfflineQueue: false,
  });
  const link = new RedisLink(redis, log);
  redis.on("error", (error) => link.lost(error));
  redis.on("ready", () => link.found());
  // The first sign-ups must be shared, too. Without Redis, the connection closes after its timeout.
  await new Promise((resolve) => redis.once("ready", resolve).once("close", resolve));
  const digest = (key: string) => createHmac("sha256", secret).update(key).digest("base64url");
  return {
    store: (name) => new SharedStore(link, `perennial:${name}:`, digest),
    close: () => redis.disconnect(),
  };
}

/** The connection to Redis, and whether it is used at the moment. */
class RedisLink {
  private pausedUntil = 0;
  private isUnavailable = false;

  constructor(
    readonly redis: Redis,
    private readonly log: Logger,
  ) {}

  /** Returns undefined if Redis is unavailable. */
  async run<T>(command: () => Promise<T>): Promise<T | undefined> {
    if (performance.now() < this.pausedUntil) return undefined;
    try {
      const result = await command();
      this.found();
      return result;
    } catch (error) {
      this.lost(error);
      return undefined;
    }
  }

  lost(error: unknown): void {
    this.pausedUntil = performance.now() + pauseMs;
    // Once per outage: the connection is retried again and again.
    if (!this.isUnavailable)
      this.log.warn(
        { error: errorFields(error) },
        "Redis is unavailable: this process counts its limits in its own memory",
      );
    this.isUnavailable = true;
  }

  found(): void {
    this.pausedUntil = 0;
    if (this.isUnavailable) this.log.info("Redis is available: limits are shared again");
    this.isUnavailable = false;
  }
}

class SharedStore implements Store {
  readonly localKeys = false;
  private readonly local = new MonotonicStore();
  private readonly shared: RedisStore;
  private options!: Options;
  private prepared = false;

  constructor(
    private readonly link: RedisLink,
    readonly prefix: string,
    private readonly digest: (key: string) => string,
  ) {
    const sendCommand = (command: string, ...args: string[]) =>
      link.redis.call(command, ...args) as Promise<RedisReply>;
    this.shared = new RedisStore({ prefix, sendCommand });
  }

  init(options: Options): void {
    this.options = options;
    this.local.init(options);
  }

  async increment(key: string): Promise<ClientRateLimitInfo> {
    // Counted locally as well, so that a client does not start from zero when Redis fails.
    const local = this.local.increment(key);
    const shared = await this.link.run(async () => {
      await this.prepare();
      return this.shared.increment(this.digest(key));
    });
    return shared ?? local;
  }

  async decrement(key: string): Promise<void> {
    this.local.decrement(key);
    await this.link.run(() => this.shared.decrement(this.digest(key)));
  }

  async resetKey(key: string): Promise<void> {
    this.local.resetKey(key);
    await this.link.run(() => this.shared.resetKey(this.digest(key)));
  }

  /** Loads the store's scripts. Without Redis, an attempt at the start would leave the store broken. */
  private async prepare(): Promise<void> {
    if (this.prepared) return;
    await this.shared.init(this.options);
    this.prepared = true;
  }
}
