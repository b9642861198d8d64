// The links that confirm or delete an entry, and their tokens, of which the database stores only hashes.
import { hash, randomBytes } from "node:crypto";
import type { Database } from "../database/connect.ts";
import { asyncCommit, executeDurably, WaitlistUnavailableError } from "./waitlist.ts";

/** Each resolves after the commit. @throws WaitlistUnavailableError */
export interface EntryLinks {
  /** Returns whether the token was mailed for an entry, also if that was confirmed before. */
  confirm: (token: string) => Promise<boolean>;
  /** The same if no entry has the token: nobody learns whether the sign-up that created the token added an entry. */
  leave: (token: string) => Promise<void>;
}

export function createEntryLinks(query: Database["query"]): EntryLinks {
  async function call(name: "confirm" | "leave", token: string): Promise<boolean> {
    const statement = `SELECT public.earlyaccess_${name}($1::bytea) AS found, ${asyncCommit}`;
    try {
      const [row] = await executeDurably(query, statement, hashToken(token));
      return row?.found === true;
    } catch (cause) {
      throw new WaitlistUnavailableError("The link could not be followed", { cause });
    }
  }
  return {
    confirm: (token) => call("confirm", token),
    leave: async (token) => void (await call("leave", token)),
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
