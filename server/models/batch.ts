// Batches of the changes that visitors request: one statement at a time, with all changes that arrived during the previous one.
import { setTimeout as sleep } from "node:timers/promises";
import { errorFields, UnavailableError, within } from "../errors.ts";

/**
 * In milliseconds from the arrival of a change; the response must come within 5 s. Each of these is shorter than the next: the wait
 * for an entry (60) and for the turn (1,900, both in equal-response-time.ts), a statement (2,000, in pool.ts), and this deadline.
 */
const deadlineMs = 4_500;
/** No attempt begins in the last 100 ms, so that Postgres rarely makes a change that was refused at the deadline. */
const lastAttemptMs = deadlineMs - 100;
/** Changes per statement. */
const batchSize = 200;
/** Entries per statement after a failed one; if that fails, too, each goes alone. A locked entry of 200 costs three lock timeouts. */
const groupSize = 15;
/** Milliseconds until locked entries are retried. */
const retryMs = 250;
/**
 * Milliseconds of the longest pause after a statement, in which the clients that it answered send their next changes. Without the
 * pause, clients fall into two groups, and each statement carries half of them.
 */
const longestPauseMs = 10;

interface Change<Data, Result> {
  data: Data;
  mayStartUntil: number;
  /** The error of the latest attempt. */
  error?: unknown;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** The unfinished changes of one entry of the list. */
interface Entry<Data, Result> {
  key: string;
  changes: Change<Data, Result>[];
}

/**
 * New changes go into one statement. If an entry is locked or Postgres refuses a value, the statement fails, and its entries are
 * retried in groups, then alone: only the bad entry fails. Locked entries wait, and are retried together.
 * A statement has all changes of its entries, in their order. Only `run` runs statements, one after the other.
 */
export class Batches<Data, Result> {
  private readonly newChanges: Change<Data, Result>[] = [];
  /** By key, the entries in a statement, a group or `locked`. A new change joins its entry there. */
  private readonly unfinished = new Map<string, Entry<Data, Result>>();
  /** Entries of failed statements. Each group is retried in one statement. */
  private readonly groups: Entry<Data, Result>[][] = [];
  private readonly locked: Entry<Data, Result>[] = [];
  private retryTimer: NodeJS.Timeout | undefined;
  private isRunning = false;

  /**
   * @param store runs one statement, and resolves after the commit with a result for each change. It may get several changes of one entry.
   * @param keyOf names the entry of a change.
   */
  constructor(
    private readonly store: (changes: Data[]) => Promise<Result[]>,
    private readonly keyOf: (change: Data) => string,
  ) {}

  /** Makes one change. @throws UnavailableError after 4.5 s at the latest; the change may then still be made. */
  async add(data: Data): Promise<Result> {
    const change = { data, mayStartUntil: performance.now() + lastAttemptMs } as Change<Data, Result>;
    const stored = new Promise<Result>((resolve, reject) => Object.assign(change, { resolve, reject }));
    this.newChanges.push(change);
    this.start();
    try {
      return await within(deadlineMs, stored);
    } catch (cause) {
      const message = "The waitlist can't be changed right now. Please try again.";
      // Long enough for a database to restart, short enough for a visitor to wait.
      throw new UnavailableError(message, 15, change.error ?? cause);
    }
  }

  private start() {
    if (!this.isRunning) setImmediate(() => this.run());
    this.isRunning = true;
  }

  /** Alternates new changes and retries, so that a new change waits for one locked entry at most. */
  private async run() {
    while (this.newChanges.length > 0 || this.groups.length > 0) {
      await this.storeNewChanges();
      const group = this.groups.shift();
      if (group) await this.attempt(group);
    }
    this.isRunning = false;
  }

  private async storeNewChanges() {
    const began = performance.now();
    const changes = this.newChanges.splice(0, batchSize);
    const group: Entry<Data, Result>[] = [];
    for (const change of changes) {
      const key = this.keyOf(change.data);
      const known = this.unfinished.get(key);
      if (known) known.changes.push(change);
      else {
        const entry = { key, changes: [change] };
        this.unfinished.set(key, entry);
        group.push(entry);
      }
    }
    await this.attempt(group);
    const pauseMs = Math.min((performance.now() - began) / 5, longestPauseMs);
    if (changes.length > 1 && pauseMs >= 1) await sleep(pauseMs);
  }

  /** Runs one statement for the changes of these entries, but for those that `add` refuses at their deadline. */
  private async attempt(group: Entry<Data, Result>[]) {
    const now = performance.now();
    for (const entry of group) entry.changes = entry.changes.filter(({ mayStartUntil }) => now < mayStartUntil);
    const changes = group.flatMap((entry) => entry.changes);
    try {
      const results = changes.length > 0 ? await this.store(changes.map(({ data }) => data)) : [];
      changes.forEach(({ resolve }, i) => resolve(results[i] as Result));
    } catch (error) {
      for (const change of changes) change.error = error;
      if (isLocked(error) || (isRefusedValue(error) && group.length > 1)) return this.retry(group);
      for (const { reject } of changes) reject(error);
    }
    for (const { key } of group) this.unfinished.delete(key);
  }

  /** Splits the group. A single entry is locked. */
  private retry(group: Entry<Data, Result>[]) {
    if (group.length === 1) return this.retryLater(group);
    const size = group.length > groupSize ? groupSize : 1;
    for (let i = 0; i < group.length; i += size) this.groups.push(group.slice(i, i + size));
  }

  /** Retries all locked entries together. */
  private retryLater(group: Entry<Data, Result>[]) {
    this.locked.push(...group);
    this.retryTimer ??= setTimeout(() => {
      this.retryTimer = undefined;
      while (this.locked.length > 0) this.groups.push(this.locked.splice(0, batchSize));
      this.start();
    }, retryMs);
  }
}

/** Returns whether a transaction held an entry, the turn or the table. */
function isLocked(error: unknown): boolean {
  // query_canceled (a timeout), lock_not_available, deadlock_detected
  return ["57014", "55P03", "40P01"].includes(errorFields(error).code ?? "");
}

/** Returns whether Postgres refused a value, which may be that of one entry: the classes data exception and integrity constraint. */
function isRefusedValue(error: unknown): boolean {
  return /^2[23]/.test(errorFields(error).code ?? "");
}
