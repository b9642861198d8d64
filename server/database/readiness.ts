// Tells whether sign-ups can be stored, within a bounded time whatever the database does.
import { setTimeout as sleep } from "node:timers/promises";
import type { PrismaClient } from "./connect.ts";

/** An orchestrator gives a probe 1 or 2 s by default; a probe must be shorter to say 503 itself. */
const probeTimeoutMs = 1_500;

/** Asks for the one right that a sign-up needs; probes that come while one is under way share it. */
export function createReadiness(prisma: PrismaClient): () => Promise<boolean> {
  let probe: Promise<boolean> | undefined;
  return async function isReady() {
    probe ??= mayInsert(prisma).finally(() => (probe = undefined));
    const cancel = new AbortController();
    const late = sleep(probeTimeoutMs, false, { signal: cancel.signal }).catch(() => false);
    try {
      return await Promise.race([probe, late]);
    } finally {
      cancel.abort();
    }
  };
}

async function mayInsert(prisma: PrismaClient): Promise<boolean> {
  try {
    const rows = await prisma.$queryRaw<[{ may: boolean }]>`SELECT has_table_privilege('earlyaccess', 'INSERT') AS may`;
    return rows[0].may;
  } catch {
    return false; // Unreachable, or not migrated yet.
  }
}
