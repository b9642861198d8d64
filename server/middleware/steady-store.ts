// Counts in this process' memory for windows that a wrong clock cannot prolong.
import { MemoryStore, type ClientRateLimitInfo } from "express-rate-limit";

/**
 * The window of express-rate-limit's own store ends at a time of the wall clock. Where that was a day ahead and is put
 * right, a client who goes on trying would stay limited for that day.
 */
export class SteadyStore extends MemoryStore {
  override async increment(key: string): Promise<ClientRateLimitInfo> {
    const client = await super.increment(key);
    if (Number(client.resetTime) - Date.now() <= this.windowMs) return client;
    await super.resetKey(key);
    return super.increment(key);
  }
}
