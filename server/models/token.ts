// The tokens in links that confirm or delete an entry. The database stores only their hashes.
import { createHash, randomBytes } from "node:crypto";

/** In bytes; 22 characters of the URL. */
const tokenSize = 16;

/** Returns a new token for a URL, and its hash for the column token_hash. */
export function createToken(): { token: string; hash: Buffer } {
  const token = randomBytes(tokenSize).toString("base64url");
  return { token, hash: hashToken(token) };
}

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
