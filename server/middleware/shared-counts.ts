// Lets replicas count their limits together through Redis or Valkey; each counts alone for as long as that is away.
import { createHmac } from "node:crypto";
import type { ClientRateLimitInfo, Options, Store } from "express-rate-limit";
import type { Redis } from "ioredis";
import type { Logger } from "pino";
import { RedisStore, type RedisReply } from "rate-limit-redis";
import { errorFields } from "../database/error-fields.ts";
import { MonotonicStore } from "./monotonic-store.ts";

/** A sign-up waits for Redis no longer, in milliseconds; in a data centre it answers within one. */
const commandTimeout = 250;
/** After it did not answer, the next sign-ups do not wait for it at all. In milliseconds. */
const pause = 2_000;

export interface SharedCounts {
  /** Where one limit counts; `name` keeps it apart from the others. */
  store: (name: string) => Store;
  close: () => void;
}

/**
 * Resolves once it is known whether Redis answers.
 * @param secret makes clients' addresses unreadable in Redis; the same for every replica.
 */
export async function shareCounts(redisUrl: string, secret: string, log: Logger): Promise<SharedCounts> {
  const { Redis } = await import("ioredis"); // Half a megabyte that only some need.
  const redis = new Redis(redisUrl, { commandTimeout, connectTimeout: 2_000, enableOfflineQueue: false });
  const link = new Link(redis, log);
  redis.on("error", (error) => link.lost(error));
  redis.on("ready", () => link.found());
  // The first sign-ups shall count with the others. Without Redis the connection closes, after its time is over at most.
  await new Promise((known) => redis.once("ready", known).once("close", known));
  const digest = (key: string) => createHmac("sha256", secret).update(key).digest("base64url");
  return {
    store: (name) => new SharedStore(link, `perennial:${name}:`, digest),
    close: () => redis.disconnect(),
  };
}

/** The connection to Redis, and whether it is worth asking. */
class Link {
  private pausedUntil = 0;
  private isAway = false;

  constructor(
    readonly redis: Redis,
    private readonly log: Logger,
  ) {}

  /** What Redis answers, or undefined where it does not. */
  async ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    if (performance.now() < this.pausedUntil) return undefined;
    try {
      const answer = await question();
      this.found();
      return answer;
    } catch (error) {
      this.lost(error);
      return undefined;
    }
  }

  lost(error: unknown): void {
    this.pausedUntil = performance.now() + pause;
    // Only the change: it is tried again and again.
    if (!this.isAway)
      this.log.warn({ error: errorFields(error) }, "Redis is away: this process counts its limits alone");
    this.isAway = true;
  }

  found(): void {
    this.pausedUntil = 0;
    if (this.isAway) this.log.info("Redis is back: limits are shared again");
    this.isAway = false;
  }
}

class SharedStore implements Store {
  readonly localKeys = false;
  private readonly local = new MonotonicStore();
  private readonly shared: RedisStore;
  private options!: Options;
  private prepared = false;

  constructor(
    private readonly link: Link,
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
    // Here as well, so that a client finds no fresh count when Redis goes away.
    const alone = this.local.increment(key);
    const together = await this.link.ask(async () => {
      await this.prepare();
      return this.shared.increment(this.digest(key));
    });
    return together ?? alone;
  }

  async decrement(key: string): Promise<void> {
    this.local.decrement(key);
    await this.link.ask(() => this.shared.decrement(this.digest(key)));
  }

  async resetKey(key: string): Promise<void> {
    this.local.resetKey(key);
    await this.link.ask(() => this.shared.resetKey(this.digest(key)));
  }

  /** Loads the store's scripts, which an attempt without Redis would leave broken for good. */
  private async prepare(): Promise<void> {
    if (this.prepared) return;
    await this.shared.init(this.options);
    this.prepared = true;
  }
}
