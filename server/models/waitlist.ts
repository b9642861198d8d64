// The waitlist: stores sign-ups in batches, ignores duplicate addresses, and checks that sign-ups can be stored.
import type { Logger } from "pino";
import { v7 as uuidv7 } from "uuid";
import { signUpColumns } from "../database/columns.ts";
import { Prisma } from "../database/generated/client.ts";
import type { Database } from "../database/site-database.ts";
import { timeLimits, within } from "../config/time-limits.ts";
import { errorFields } from "../errors.ts";
import { batchOf, batchChanges } from "./batch.ts";
import type { SignUp } from "./sign-up-rules.ts";
import type { Notice } from "./page-settings.ts";

export type Waitlist = ReturnType<typeof createWaitlist>;

/** @param notice that the form shows, stored before the first entry. */
export function createWaitlist(execute: Database["execute"], notice?: Notice) {
  let isNoticeStored = notice === undefined;

  async function storeNotice() {
    if (notice) {
      await execute(Prisma.sql`
        INSERT INTO public.earlyaccess_notices (id, text) VALUES (${notice.id}, ${notice.text}) ON CONFLICT DO NOTHING`);
    }
    isNoticeStored = true;
  }

  async function store(entries: SignUp[]): Promise<undefined[]> {
    if (!isNoticeStored) await storeNotice();
    // The order of an import: otherwise, a batch and an import could each hold an entry that the other needs.
    const sorted = entries.toSorted((a, b) => Number(a.email > b.email) - Number(a.email < b.email)); // As COLLATE "C": they are ASCII.
    const rows = Array.from(sorted, (entry) => ({ id: uuidv7(), ...entry }));
    await execute(insertSignUps(rows));
    return entries.map(() => undefined); // No request learns whether its entry is new.
  }

  const storeEntry = batchChanges(store);

  return {
    /** Checks that entries can be stored, with an empty batch: it needs the same table, right and locks as a sign-up. */
    check: async (): Promise<void> => {
      // Store the notice before the first entry: a visitor may send this server's form when a newer server has taken over.
      if (!isNoticeStored) await storeNotice();
      await execute(insertSignUps([]));
    },
    /**
     * Stores the entry; resolves after the commit. The first entry for an address wins; a duplicate resolves in the same
     * way. A waiting entry with the flag suspected_spam is replaced (earlyaccess_replace_suspected_spam in the migration).
     * @throws UnavailableError if the entry cannot be stored.
     */
    add: (entry: SignUp): Promise<void> => storeEntry(entry),
  };
}

/** It has neither RETURNING nor a conflict target, because the role may not read. */
export function insertSignUps(rows: object[]): Prisma.Sql {
  const columns = Prisma.raw(signUpColumns);
  return Prisma.sql`${batchOf(rows)}
    INSERT INTO public.earlyaccess (${columns})
    SELECT ${columns} FROM batch, json_populate_recordset(null::public.earlyaccess, rows)
    ON CONFLICT DO NOTHING`;
}

/** What the site runs, without a row: each statement needs its tables and rights, and the first also waits for the locks of a sign-up. */
export const webStatements = [
  insertSignUps([]),
  "INSERT INTO public.earlyaccess_notices (id, text) SELECT '', '' WHERE false",
  "SELECT public.earlyaccess_confirm(''), public.earlyaccess_leave('') WHERE false",
  "SELECT public.earlyaccess_count_views(now()::date, '', 1) WHERE false",
];

/**
 * Returns the check of /readyz: true if sign-ups can be stored, false if the check fails or takes longer than 1.5 s.
 * Probes share the result of a check for 250 ms after its end.
 */
export function createReadiness(check: () => Promise<void>, log: Logger): () => Promise<boolean> {
  let probe: Promise<boolean> | undefined;
  let wasReady = true;

  async function probeOnce(): Promise<boolean> {
    const fault = await within(timeLimits.probe, check()).then(() => undefined, errorFields);
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
