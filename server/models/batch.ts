// Changes of entries at a visitor's request: one statement at a time, each with all changes that arrived meanwhile.
import { setTimeout as sleep } from "node:timers/promises";
import { errorFields, UnavailableError } from "../errors.ts";
import { within } from "../database/pool.ts";

/** In milliseconds from the arrival of a change; the response must come within 5 s. */
const deadlineMs = 4_500;
/** Changes per statement. */
const batchSize = 200;
/** Entries per statement, after one for more entries has failed. One locked entry among 200 costs four lock timeouts. */
const groupSizes = [15, 4, 1];
/** In milliseconds, until a locked entry is tried again: the first time soon, as the worker holds an entry for one commit. */
const firstRetryMs = 30;
const retryMs = 250;
/**
 * In milliseconds, after a statement on a slow disk: the clients that it answered send their next changes together. Without the pause, clients
 * fall into two groups, and each statement carries half of them.
 */
const mostPauseMs = 10;

interface Change<Entry, Result> {
  entry: Entry;
  deadline: number;
  /** Of its last attempt. */
  error?: unknown;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Returns a function that makes one change. If a statement fails for its content or for a lock, its entries are tried again in
 * smaller groups, so that only the one at fault fails or, if it is locked, waits. Throws an UnavailableError after 4.5 s at the
 * latest; the change may then still be made.
 * @param store runs one statement, and resolves after the commit with a result for each change.
 * @param keyOf names the entry of a change. Changes of the same entry are stored in order, or together.
 */
export function inBatches<Entry, Result>(
  store: (entries: Entry[]) => Promise<Result[]>,
  keyOf: (entry: Entry) => string,
): (entry: Entry) => Promise<Result> {
  const waiting: Change<Entry, Result>[] = [];
  /** The changes of each entry from its first attempt on. Later ones of the entry join them. */
  const tried = new Map<string, Change<Entry, Result>[]>();
  const retries = createRetries();
  let retryTimer: NodeJS.Timeout | undefined;
  let isRunning = false;

  function start() {
    if (!isRunning) setImmediate(run);
    isRunning = true;
  }

  async function run() {
    let retry: string[] | undefined;
    do {
      await storeWaiting();
      // Until one fails, so that changes of other entries wait for one locked entry at most.
      do retry = retries.next();
      while (retry && (await attempt(retry)));
    } while (retry || waiting.length > 0);
    isRunning = false;
    clearTimeout(retryTimer);
    const ms = retries.msUntilNext();
    if (ms < Infinity) retryTimer = setTimeout(start, ms);
  }

  async function storeWaiting() {
    const began = performance.now();
    const keys: string[] = [];
    for (const change of waiting.splice(0, batchSize)) {
      const key = keyOf(change.entry);
      const earlier = tried.get(key);
      if (earlier) earlier.push(change);
      else {
        tried.set(key, [change]);
        keys.push(key);
      }
    }
    if (keys.length === 0) return;
    await attempt(keys);
    const pauseMs = Math.min((performance.now() - began) / 5, mostPauseMs);
    if (keys.length > 1 && pauseMs >= 1) await sleep(pauseMs);
  }

  /** Runs one statement for the changes of these entries. Returns whether it succeeded. */
  async function attempt(keys: string[]): Promise<boolean> {
    const changes = keys.flatMap((key) => openChanges(key));
    try {
      const results = changes.length > 0 ? await store(changes.map(({ entry }) => entry)) : [];
      changes.forEach(({ resolve }, i) => resolve(results[i] as Result));
      forget(keys);
      return true;
    } catch (error) {
      if (isLock(error) || (isRefusal(error) && keys.length > 1)) {
        for (const change of changes) change.error = error;
        retries.add(keys);
      } else {
        for (const { reject } of changes) reject(error);
        forget(keys);
      }
      return false;
    }
  }

  function forget(keys: string[]) {
    for (const key of keys) tried.delete(key);
    retries.forget(keys);
  }

  /** Forgets the changes whose deadline has passed. */
  function openChanges(key: string) {
    const open = (tried.get(key) ?? []).filter(({ deadline }) => performance.now() < deadline);
    tried.set(key, open);
    return open;
  }

  return async (entry) => {
    const change = { entry, deadline: performance.now() + deadlineMs } as Change<Entry, Result>;
    const stored = new Promise<Result>((resolve, reject) => Object.assign(change, { resolve, reject }));
    waiting.push(change);
    start();
    try {
      return await within(deadlineMs, stored);
    } catch (cause) {
      const message = "The waitlist can't be changed right now. Please try again.";
      // Long enough for a database to restart, short enough for a visitor to wait.
      throw new UnavailableError(message, 15, change.error ?? cause);
    }
  };
}

/** The entries of failed statements: next in smaller groups, and a single one, which is locked, after a while. */
function createRetries() {
  const groups: string[][] = [];
  const locked = new Set<string>();
  let retryAt = Infinity;

  function divide(keys: string[], size: number) {
    for (let i = 0; i < keys.length; i += size) groups.push(keys.slice(i, i + size));
  }

  return {
    add(keys: string[]) {
      const size = groupSizes.find((smaller) => smaller < keys.length);
      if (size) return divide(keys, size);
      for (const key of keys) {
        if (!locked.has(key)) retryAt = Math.min(retryAt, performance.now() + firstRetryMs);
        locked.add(key);
      }
    },
    /** Returns the next group. After the last one, returns all locked entries together when it is time. */
    next(): string[] | undefined {
      if (groups.length === 0 && performance.now() >= retryAt) {
        divide([...locked], batchSize);
        retryAt = performance.now() + retryMs;
      }
      return groups.shift();
    },
    forget(keys: string[]) {
      for (const key of keys) locked.delete(key);
      if (locked.size === 0) retryAt = Infinity;
    },
    /** Infinity if no entry is locked. */
    msUntilNext: () => retryAt - performance.now(),
  };
}

/** Returns whether a transaction held an entry, the turn or the table for too long: a timeout or a deadlock. */
function isLock(error: unknown): boolean {
  return /^(57014|55P03|40P01)$/.test(errorFields(error).code ?? "");
}

/** Returns whether Postgres refused a value, which may be that of one entry. */
function isRefusal(error: unknown): boolean {
  return /^2[23]/.test(errorFields(error).code ?? "");
}
