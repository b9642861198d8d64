// The tokens in links that confirm or delete an entry. The database stores only their hashes.
import { hash, randomFillSync } from "node:crypto";

/** In bytes; 22 characters of the URL. */
const tokenSize = 16;
/** Random bytes of the next 256 tokens: one call for each token takes as long as the rest of its creation. */
const pool = Buffer.alloc(256 * tokenSize);
let used = pool.length;

/** Returns a new token for a URL, and its hash for the columns token_hash and mail_tokens. */
export function createToken(): { token: string; hash: string } {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const token = pool.toString("base64url", used, used + tokenSize);
  used += tokenSize;
  return { token, hash: hashToken(token) };
}

/** Returns the SHA-256 of the token as bytes in Postgres' text format. */
export function hashToken(token: string): string {
  return `\\x${hash("sha256", token)}`;
}
