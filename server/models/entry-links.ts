// The links that confirm or delete an entry, and their tokens, of which the database stores only hashes.
import { hash, randomBytes } from "node:crypto";
import type { Database } from "../database/connect.ts";
import { retryForMs, storeBatch, type Pending } from "./batch.ts";
import { asyncCommit, executeDurably, WaitlistUnavailableError } from "./waitlist.ts";

/** Each resolves after the commit. @throws WaitlistUnavailableError */
export interface EntryLinks {
  /** Returns whether the token was mailed for an entry, also if that was confirmed before. */
  confirm: (token: string) => Promise<boolean>;
  /** The same if no entry has the token: nobody learns whether the sign-up that created the token added an entry. */
  leave: (token: string) => Promise<void>;
}

const statements = {
  confirm: `
    SELECT hash, ${asyncCommit} FROM unnest(string_to_array($1, ',')) AS hash
    WHERE public.earlyaccess_confirm(hash::bytea)`,
  leave: `
    SELECT count(public.earlyaccess_leave(hash::bytea)), ${asyncCommit}
    FROM unnest(string_to_array($1, ',')) AS hash`,
};

interface Use {
  name: keyof typeof statements;
  hash: string;
  confirmed?: boolean;
}

/**
 * Runs one statement at a time, with all tokens that arrived meanwhile. A flood of forged tokens then takes one of the ten
 * connections, and sign-ups have the others.
 */
export function createEntryLinks(query: Database["query"]): EntryLinks {
  let pending: Pending<Use>[] = [];
  let isRunning = false;

  async function run(uses: Use[]) {
    for (const [name, statement] of Object.entries(statements)) {
      const named = uses.filter((use) => use.name === name);
      // Sorted: the statements of two replicas lock entries in the same order.
      const hashes = [...new Set(named.map((use) => use.hash))].toSorted();
      if (hashes.length === 0) continue;
      const rows = await executeDurably(query, statement, hashes.join(","));
      const confirmed = new Set(rows.map((row) => row.hash));
      for (const use of named) use.confirmed = confirmed.has(use.hash);
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

  const follow = (name: Use["name"], token: string) =>
    new Promise<Use>((resolve, reject) => {
      const refuse = (cause: unknown) =>
        reject(new WaitlistUnavailableError("The link could not be followed", { cause }));
      const use: Use = { name, hash: hashToken(token) };
      pending.push({ entry: use, resolve: () => resolve(use), reject: refuse });
      if (!isRunning) void runPending();
    });
  return {
    confirm: async (token) => (await follow("confirm", token)).confirmed === true,
    leave: async (token) => void (await follow("leave", token)),
  };
}

/** Returns a new token for a URL, of 22 characters, and its hash for the columns token_hash and mail_tokens. */
export function createToken(): { token: string; hash: string } {
  const token = randomBytes(16).toString("base64url");
  return { token, hash: hashToken(token) };
}

/** Returns the SHA-256 of the token as bytes in Postgres' text format. */
export function hashToken(token: string): string {
  return `\\x${hash("sha256", token)}`;
}
