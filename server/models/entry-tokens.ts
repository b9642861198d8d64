// The tokens in the links of a mail and of the undo button. The database stores only their hashes.
import { hash, randomBytes } from "node:crypto";

/** Returns a new token for a URL, of 22 characters, and its hash for the columns token_hash and mail_tokens. */
export function createToken(): { token: string; hash: string } {
  const token = randomBytes(16).toString("base64url");
  return { token, hash: hashToken(token) };
}

/** Returns a SHA-256 in Postgres' text format. */
export function hashToken(token: string): string {
  return `\\x${hash("sha256", token)}`;
}
