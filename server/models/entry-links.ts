// Confirms and deletes entries by their tokens.
import type { Database } from "../database/connect.ts";
import { executeDurably, withoutWaiting } from "../database/durable.ts";
import { retryForMs, storeBatch, type Pending } from "./batch.ts";
import { hashToken } from "./token.ts";
import { WaitlistUnavailableError } from "./waitlist.ts";

/** Each resolves after the commit, in the same way if no entry has the token. @throws WaitlistUnavailableError */
export interface EntryLinks {
  confirm: (token: string) => Promise<void>;
  leave: (token: string) => Promise<void>;
}

const functions = ["earlyaccess_confirm", "earlyaccess_leave"] as const;

interface Use {
  name: (typeof functions)[number];
  token: string;
}

/**
 * Runs one statement at a time, with all tokens that arrived meanwhile. A flood of forged tokens then takes one of the ten
 * connections, and sign-ups have the others.
 */
export function createEntryLinks(execute: Database["execute"]): EntryLinks {
  let pending: Pending<Use>[] = [];
  let isRunning = false;

  async function run(uses: Use[]) {
    for (const name of functions) {
      const tokens = uses.filter((use) => use.name === name).map(({ token }) => token);
      // Sorted: the statements of two replicas lock entries in the same order.
      const hashes = [...new Set(tokens.map((token) => hashToken(token).toString("hex")))].toSorted();
      if (hashes.length === 0) continue;
      const statement = `
        SELECT public.${name}(decode(hash, 'hex')), ${withoutWaiting}
        FROM unnest(string_to_array($1, ',')) AS hash`;
      await executeDurably(execute, statement, hashes.join(","));
    }
  }

  async function runPending() {
    isRunning = true;
    while (pending.length > 0) {
      const batch = pending;
      pending = [];
      await storeBatch(run, batch, performance.now() + retryForMs);
    }
    isRunning = false;
  }

  const use = (name: Use["name"]) => (token: string) =>
    new Promise<void>((resolve, reject) => {
      const refuse = (cause: unknown) =>
        reject(new WaitlistUnavailableError("The link could not be followed", { cause }));
      pending.push({ entry: { name, token }, resolve, reject: refuse });
      if (!isRunning) void runPending();
    });
  return { confirm: use("earlyaccess_confirm"), leave: use("earlyaccess_leave") };
}
