// The waitlist: joining it is all that the web process can do.
import { v7 as uuidv7 } from "uuid";
import type { PrismaClient } from "../database/connect.ts";
import { Prisma } from "../database/generated/client.ts";
import { errorFields } from "../database/error-fields.ts";
import { retryForMs, storeBatch, type PendingEntry } from "./waitlist-batch.ts";
import { entryColumns, type WaitlistEntry } from "./waitlist-entry.ts";

export interface Waitlist {
  /**
   * Stores the entry; resolves after the commit. The first entry for an address wins, and a repeat is told the same.
   * @throws WaitlistUnavailableError when it could not be stored.
   */
  join(entry: WaitlistEntry): Promise<void>;
}

export interface CheckedWaitlist extends Waitlist {
  /**
   * Sees whether entries can be stored: by storing none, and by whether the latest met a full or broken disk.
   * @throws what keeps them from being stored.
   */
  check: () => Promise<void>;
}

/** Told of each statement's entries after the commit, and how many of them are new: the others were on the list already. */
export type Stored = (entries: WaitlistEntry[], inserted: number) => void;

export class WaitlistUnavailableError extends Error {
  override name = "WaitlistUnavailableError";
}

/** How long such a refusal counts, in milliseconds: as long as probes are apart by default, so that one of them sees it. */
const refusalCountsMs = 10_000;

/** Entries that join in the same turn of the event loop are stored by one statement, which saves a round trip each. */
export function createWaitlist(prisma: PrismaClient, stored?: Stored): CheckedWaitlist {
  let pending: PendingEntry[] = [];
  /** Why the latest batch could not be stored, where an empty one could have been. */
  let refusal: { error: unknown; at: number } | undefined;

  async function tryInsert(entries: WaitlistEntry[]) {
    try {
      const inserted = await insert(prisma, entries);
      refusal = undefined;
      stored?.(entries, inserted);
    } catch (error) {
      if (isStorageError(error)) refusal = { error, at: performance.now() };
      throw error;
    }
  }

  function storePending() {
    const batch = pending;
    pending = [];
    void storeBatch(tryInsert, batch, performance.now() + retryForMs);
  }

  return {
    check: async () => {
      if (refusal && performance.now() - refusal.at < refusalCountsMs) throw refusal.error;
      // An empty batch needs the table, the right and a writable server, and waits for table locks and the disk as all do.
      await insert(prisma, []);
    },
    join: (entry) =>
      new Promise((resolve, reject) => {
        const refuse = (cause: unknown) =>
          reject(new WaitlistUnavailableError("The entry could not be stored", { cause }));
        if (pending.push({ entry, resolve, reject: refuse }) === 1) setImmediate(storePending);
      }),
  };
}

/** No room or memory, a failing disk and damaged files, which show only if there is something to store. */
function isStorageError(error: unknown): boolean {
  return /^(53[12]|58|XX)/.test(errorFields(error).code ?? "");
}

const columns = Prisma.raw(entryColumns);

/**
 * Without RETURNING and a conflict target, so that a role that may not read can run it, and two at once cannot race.
 * Prisma's createMany would do the same at several times the cost for this process.
 *
 * The empty message in the write-ahead log makes every statement wait for the disk: one that only finds known addresses
 * would have nothing to write, and tell by its speed that they are on the list.
 *
 * @returns how many were not on the list.
 */
async function insert(prisma: PrismaClient, entries: WaitlistEntry[]): Promise<number> {
  // By address: two statements that hold the same ones in another order would wait for each other for ever.
  const rows = entries
    .map((entry) => ({ id: uuidv7(), ...entry }))
    .toSorted((a, b) => (a.email < b.email ? -1 : Number(a.email > b.email)));
  return prisma.$executeRaw`
    INSERT INTO public.earlyaccess (${columns})
    SELECT ${columns}
    FROM json_populate_recordset(null::public.earlyaccess, ${JSON.stringify(rows)}::json),
      pg_logical_emit_message(true, 'earlyaccess', '')
    ON CONFLICT DO NOTHING`;
}
