// An in-memory store for the rate limiter, whose windows do not depend on the wall clock.
import type { ClientRateLimitInfo, Options, Store } from "express-rate-limit";

/** The number of keys that a store holds, at about 150 bytes each. Beyond it, the key whose window began first is dropped. */
const keyLimit = 100_000;

interface Window {
  hits: number;
  /** By performance.now(). */
  endsAt: number;
}

/**
 * Unlike express-rate-limit's MemoryStore: a clock that was a day ahead would keep a client limited for that day, and the
 * number of keys would be unlimited.
 */
export class MonotonicStore implements Store {
  readonly localKeys = true;
  private windowMs = 0;
  /** In the order of their start, and so of their end. */
  private readonly windows = new Map<string, Window>();

  init({ windowMs }: Pick<Options, "windowMs">): void {
    this.windowMs = windowMs;
    setInterval(() => this.removeEnded(), windowMs).unref();
  }

  increment(key: string): ClientRateLimitInfo {
    const now = performance.now();
    let window = this.windows.get(key);
    if (!window || window.endsAt <= now) window = this.begin(key, now);
    window.hits++;
    return { totalHits: window.hits, resetTime: new Date(Date.now() + window.endsAt - now) };
  }

  decrement(key: string): void {
    const window = this.windows.get(key);
    if (window && window.hits > 0) window.hits--;
  }

  resetKey(key: string): void {
    this.windows.delete(key);
  }

  private begin(key: string, now: number): Window {
    const window = { hits: 0, endsAt: now + this.windowMs };
    this.windows.delete(key); // Otherwise the key would keep its place in the order.
    const [oldest] = this.windows.size < keyLimit ? [] : this.windows.keys();
    if (oldest !== undefined) this.windows.delete(oldest);
    this.windows.set(key, window);
    return window;
  }

  private removeEnded(): void {
    const now = performance.now();
    for (const [key, { endsAt }] of this.windows) {
      if (endsAt > now) return;
      this.windows.delete(key);
    }
  }
}
