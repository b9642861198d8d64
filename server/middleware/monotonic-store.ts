// Counts requests per client in this process' memory, for windows that a change of the wall clock does not prolong.
import type { ClientRateLimitInfo, Options, Store } from "express-rate-limit";

/** Clients that a store remembers, at about 150 bytes each; beyond it, the one whose window began first is forgotten. */
const clientLimit = 100_000;

interface Window {
  hits: number;
  /** By performance.now(). */
  endsAt: number;
}

export class MonotonicStore implements Store {
  readonly localKeys = true;
  private windowMs = 0;
  /** Ordered by start, and so by end. */
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
    this.windows.delete(key); // A key that is set again would keep its place in the order.
    const [oldest] = this.windows.size < clientLimit ? [] : this.windows.keys();
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
