// Detects known bots and prefetching browsers by their request headers.
import type { IncomingMessage } from "node:http";
import { isbot } from "isbot";

/** In characters. Browsers send up to 500; isbot takes 20 µs for 8,000 (Node 20). */
const longestAgent = 1_000;

/** The cache is cleared when clients send more values: 500 KB at most. */
const cacheSize = 500;
const cache = new Map<string, boolean>();

/** Returns whether the client is a known bot, names no browser, or prefetches or prerenders the page. */
export function isAutomated({ headers }: IncomingMessage): boolean {
  const purposes = [headers["sec-purpose"], headers.purpose, headers["x-moz"]];
  if (purposes.some((purpose) => purpose && /prefetch|prerender/i.test(String(purpose)))) return true;
  const agent = headers["user-agent"];
  return !agent || agent.length > longestAgent || isBot(agent);
}

function isBot(agent: string): boolean {
  const known = cache.get(agent);
  if (known !== undefined) return known;
  const result = isbot(agent);
  if (cache.size >= cacheSize) cache.clear();
  cache.set(agent, result);
  return result;
}
