// The waitlist: stores sign-ups in batches, ignores duplicate addresses, and checks that sign-ups can be stored.
import type { Logger } from "pino";
import { v7 as uuidv7 } from "uuid";
import { turn } from "./equal-response-time.ts";
import type { SignupCeiling } from "./signup-ceiling.ts";
import { errorFields, within } from "../errors.ts";
import { signUpColumns } from "../database/columns.ts";
import type { Database } from "../database/pool.ts";
import { Batches } from "./batch.ts";
import type { SignUp } from "./waitlist-entry.ts";
import type { Notice } from "./page-settings.ts";

export type Waitlist = ReturnType<typeof createWaitlist>;

/** Called after each commit with the statement's entries and the number of those that were not on the list. */
export type OnStored = (entries: SignUp[], inserted: number) => void;

/** Milliseconds for which check() fails after a storage error: the default interval of probes. */
const storageErrorMs = 10_000;

/** @param notice that the form shows, stored before the first entry. */
export function createWaitlist(
  execute: Database["execute"],
  { onStored, notice, ceiling }: { onStored?: OnStored | undefined; notice?: Notice; ceiling?: SignupCeiling } = {},
) {
  let isNoticeStored = notice === undefined;
  /** The error of the latest batch if an empty batch would not have met it. */
  let storageError: { error: unknown; at: number } | undefined;

  async function storeNotice() {
    if (notice) await execute(noticeStatement, notice.id, notice.text);
    isNoticeStored = true;
  }

  async function store(entries: SignUp[]): Promise<undefined[]> {
    try {
      if (!isNoticeStored) await storeNotice();
      const rows = Array.from(mergeByEmail(entries), (entry) => ({ id: uuidv7(), ...entry }));
      const inserted = await execute(insertStatement, JSON.stringify(rows));
      storageError = undefined;
      onStored?.(entries, inserted);
      return entries.map(() => undefined); // No request learns whether its entry is new.
    } catch (error) {
      if (isStorageError(error)) storageError = { error, at: performance.now() };
      throw error;
    }
  }

  const batches = new Batches(store, ({ email }) => email);

  return {
    /**
     * Checks that entries can be stored, with an empty batch: it needs the same table, right and locks as a sign-up. Also throws
     * a storage error of the last 10 s, because a full disk refuses no empty batch.
     */
    check: async (): Promise<void> => {
      // Store the notice before the first entry: a visitor may send this server's form when a newer server has taken over.
      if (!isNoticeStored) await storeNotice();
      if (storageError && performance.now() - storageError.at < storageErrorMs) throw storageError.error;
      await execute(insertStatement, "[]");
    },
    /**
     * Stores the entry; resolves after the commit. The first entry for an address wins; a duplicate resolves in the same
     * way. A waiting entry with the flag suspected_spam is replaced (earlyaccess_replace_suspected_spam in the migration).
     * Sets the flag unusual_volume above the ceiling.
     * @throws UnavailableError if the entry cannot be stored, or above the hard limit.
     */
    join: async (entry: SignUp): Promise<void> => {
      const unusual_volume = ceiling?.begin() ?? false;
      try {
        await batches.add({ ...entry, unusual_volume });
      } catch (error) {
        ceiling?.fail();
        throw error;
      }
    },
  };
}

/**
 * Returns one entry for each address: the first whose honeypot is empty, otherwise the first. Their order is that of an import:
 * otherwise, a batch and an import could each hold an entry that the other needs.
 */
function mergeByEmail(entries: SignUp[]): SignUp[] {
  const merged = new Map<string, SignUp>();
  for (const entry of entries) {
    const first = merged.get(entry.email);
    if (!first || (first.suspected_spam && !entry.suspected_spam)) merged.set(entry.email, entry);
  }
  return [...merged.values()].toSorted((a, b) => (a.email < b.email ? -1 : 1)); // As COLLATE "C": they are ASCII.
}

/** Returns whether the disk or memory is full, the disk fails or a file is damaged: errors that an empty batch may not meet. */
function isStorageError(error: unknown): boolean {
  return /^(53[12]|58|XX)/.test(errorFields(error).code ?? "");
}

/**
 * It has neither RETURNING nor a conflict target, because the role may not read.
 * Prisma's createMany stores less than half as many per second, and needs the right to set a status.
 */
export const insertStatement = `${turn}
  INSERT INTO public.earlyaccess (${signUpColumns})
  SELECT ${signUpColumns} FROM turn, json_populate_recordset(null::public.earlyaccess, batch)
  ON CONFLICT DO NOTHING`;

const noticeStatement = "INSERT INTO public.earlyaccess_notices (id, text) VALUES ($1, $2) ON CONFLICT DO NOTHING";

/** Shorter than the timeout of a prober, so that the site says 503 before the prober gives up. */
const probeTimeoutMs = 1_500;

/**
 * Returns the check of /readyz: true if sign-ups can be stored, false if the check fails or takes longer than 1.5 s.
 * Probes share the result of a check for 250 ms after its end.
 */
export function createReadiness(check: () => Promise<void>, log: Logger): () => Promise<boolean> {
  let probe: Promise<boolean> | undefined;
  let wasReady = true;

  async function probeOnce(): Promise<boolean> {
    const fault = await within(probeTimeoutMs, check()).then(() => undefined, errorFields);
    const isReady = fault === undefined;
    // Log changes only: probes come every few seconds.
    if (!isReady && wasReady) log.warn({ error: fault }, "sign-ups cannot be stored");
    if (isReady && !wasReady) log.info("sign-ups can be stored again");
    wasReady = isReady;
    return isReady;
  }

  // Each check waits for the database's disk, and anybody may send probes one after the other.
  const forget = () => setTimeout(() => (probe = undefined), 250).unref();
  return () => (probe ??= probeOnce().finally(forget));
}
