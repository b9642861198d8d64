// The waitlist: stores sign-ups in batches, ignores duplicate addresses, and waits for the disk once the locks are released.
import { v7 as uuidv7 } from "uuid";
import { signUpColumns } from "../database/columns.ts";
import type { Database } from "../database/connect.ts";
import { errorFields } from "../logger.ts";
import { retryForMs, storeBatch, type Pending } from "./batch.ts";
import type { SignUp } from "./waitlist-entry.ts";
import type { Notice } from "./notice.ts";

export interface Waitlist {
  /**
   * Stores the entry; resolves after the commit. The first entry for an address wins; a duplicate resolves in the same
   * way. A waiting entry with the flag suspected_spam is replaced (earlyaccess_replace_suspected_spam in the migration).
   * @throws WaitlistUnavailableError if it could not be stored.
   */
  join(entry: SignUp): Promise<void>;
}

export interface CheckedWaitlist extends Waitlist {
  /**
   * Checks that entries can be stored: stores an empty batch, which needs the same table, right and locks as a sign-up, and reports
   * a storage error of the last 10 s: a full disk refuses only entries.
   * @throws the error that prevents it.
   */
  check: () => Promise<void>;
}

/** Called after each commit with the statement's entries and the number of those that were not on the list. */
export type OnStored = (entries: SignUp[], inserted: number) => void;

export class WaitlistUnavailableError extends Error {
  override name = "WaitlistUnavailableError";
}

/** How long a storage error makes check() fail, in milliseconds: the default interval of probes, so that one probe sees it. */
const storageErrorMs = 10_000;

/**
 * Stores entries that join in the same turn of the event loop with one statement, which saves a round trip each.
 * @param notice that the form shows, stored before the first entry.
 */
export function createWaitlist(
  execute: Database["execute"],
  { onStored, notice }: { onStored?: OnStored; notice?: Notice } = {},
): CheckedWaitlist {
  let isNoticeStored = notice === undefined;
  let pending: Pending<SignUp>[] = [];
  /** The error of the latest batch if an empty batch would not have met it. */
  let storageError: { error: unknown; at: number } | undefined;

  async function storeNotice() {
    if (notice) await execute(noticeStatement, notice.id, notice.text);
    isNoticeStored = true;
  }

  async function store(entries: SignUp[]) {
    try {
      if (!isNoticeStored) await storeNotice();
      const inserted = await insert(execute, entries);
      storageError = undefined;
      onStored?.(entries, inserted);
    } catch (error) {
      if (isStorageError(error)) storageError = { error, at: performance.now() };
      throw error;
    }
  }

  function storePending() {
    const batch = pending;
    pending = [];
    void storeBatch(store, batch, performance.now() + retryForMs);
  }

  return {
    check: async () => {
      // Also before the first entry: a visitor may send the form of this page when a newer server has taken over.
      if (!isNoticeStored) await storeNotice();
      if (storageError && performance.now() - storageError.at < storageErrorMs) throw storageError.error;
      // An empty batch needs the table, the right and a writable server, and waits for table locks and the disk.
      await insert(execute, []);
    },
    join: (entry) =>
      new Promise((resolve, reject) => {
        const refuse = (cause: unknown) =>
          reject(new WaitlistUnavailableError("The entry could not be stored", { cause }));
        if (pending.push({ entry, resolve, reject: refuse }) === 1) setImmediate(storePending);
      }),
  };
}

/** Returns whether the disk or memory is full, the disk fails or a file is damaged: errors that only an entry meets. */
function isStorageError(error: unknown): boolean {
  return /^(53[12]|58|XX)/.test(errorFields(error).code ?? "");
}

/** An SQL expression: the transaction of its statement commits without waiting for the disk. */
export const asyncCommit = "set_config('synchronous_commit', 'off', true)";

/**
 * Runs a statement that uses asyncCommit, then waits for the disk with a second statement, also if nothing was changed.
 * A statement that waited for the disk would hold its locks: a concurrent sign-up of the same address would wait if the first
 * one inserted an entry, so its response time would reveal whether the address was on the list.
 * @returns the result of the first statement.
 */
export async function executeDurably<Result>(
  execute: (statement: string, ...parameters: unknown[]) => Promise<Result>,
  statement: string,
  ...parameters: unknown[]
): Promise<Result> {
  const result = await execute(statement, ...parameters);
  // Also waits for every earlier commit.
  await execute("SELECT pg_logical_emit_message(true, 'earlyaccess', '')::text");
  return result;
}

/**
 * Without RETURNING and a conflict target, because the role may not read; two inserts of one address cannot race.
 * Prisma's createMany stores less than half as many per second, and needs the right to set a status.
 */
const insertStatement = `
  INSERT INTO public.earlyaccess (${signUpColumns})
  SELECT ${signUpColumns}
  FROM json_populate_recordset(null::public.earlyaccess, $1::json),
    ${asyncCommit}
  ON CONFLICT DO NOTHING`;

const noticeStatement = "INSERT INTO public.earlyaccess_notices (id, text) VALUES ($1, $2) ON CONFLICT DO NOTHING";

/** Returns the number of entries that were not on the list. */
async function insert(execute: Database["execute"], entries: SignUp[]): Promise<number> {
  // In the order of their addresses: two statements with the same addresses in different orders would deadlock.
  const rows = entries
    .map((entry) => ({ id: uuidv7(), ...entry }))
    .toSorted((a, b) => (a.email < b.email ? -1 : Number(a.email > b.email)));
  return executeDurably(execute, insertStatement, JSON.stringify(rows));
}
