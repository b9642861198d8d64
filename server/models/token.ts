// The tokens in links that confirm or delete an entry. The database stores only their hashes.
import { createHash, randomBytes } from "node:crypto";
import { hashAddress } from "../database/erasures.ts";

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

/**
 * Returns a token that undoes a sign-up, and the columns of its entry: the token's hash and, with a key, the address as a keyed
 * hash, which remains when the entry is deleted. Both are bytes in Postgres' text format.
 */
export function createUndo(email: string, erasureKey: string | undefined) {
  const { token, hash } = createToken();
  const toText = (bytes: Buffer) => `\\x${bytes.toString("hex")}`;
  const erasure = erasureKey && { erasure_hash: toText(hashAddress(email, erasureKey)) };
  return { token, columns: { token_hash: toText(hash), ...erasure } };
}
