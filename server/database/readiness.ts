// Tells whether sign-ups can be stored, within a bounded time whatever the database does.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { PrismaClient } from "./connect.ts";
import { errorFields } from "./error-fields.ts";

/** An orchestrator gives a probe 1 or 2 s by default; a probe must be shorter to say 503 itself. */
const probeTimeoutMs = 1_500;

/** Asks for the one right that a sign-up needs; probes that come while one is under way share it. */
export function createReadiness(prisma: PrismaClient, log: Logger): () => Promise<boolean> {
  let probe: Promise<boolean> | undefined;
  let wasReady: boolean | undefined;

  async function look(): Promise<boolean> {
    const reason = await whyNot(prisma);
    const ready = reason === undefined;
    // Only the change: probes come every few seconds.
    if (!ready && wasReady !== false) log.warn({ error: reason }, "sign-ups cannot be stored");
    if (ready && wasReady === false) log.info("sign-ups can be stored again");
    wasReady = ready;
    return ready;
  }

  return async function isReady() {
    probe ??= look().finally(() => (probe = undefined));
    const cancel = new AbortController();
    const late = sleep(probeTimeoutMs, false, { signal: cancel.signal }).catch(() => false);
    try {
      return await Promise.race([probe, late]);
    } finally {
      cancel.abort();
    }
  };
}

async function whyNot(prisma: PrismaClient): Promise<object | undefined> {
  try {
    const [{ may, writable }] = await prisma.$queryRaw<[{ may: boolean; writable: boolean }]>`
      SELECT has_table_privilege('earlyaccess', 'INSERT') AS may,
             current_setting('transaction_read_only') = 'off' AND NOT pg_is_in_recovery() AS writable`;
    if (!may) return { name: "the role of DATABASE_URL may not insert" };
    return writable ? undefined : { name: "the database is read-only" };
  } catch (error) {
    return errorFields(error);
  }
}
