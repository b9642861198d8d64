// The tokens in the links of a mail and of the undo button. The database stores only their hashes.
// A mail's link is valid as long as its entry is on the list; the undo button for `undoMinutes`
// (client/shared/promised-times.ts).
import { hash, randomBytes } from "node:crypto";

interface Token {
  /** For a URL, 32 hexadecimal digits. */
  token: string;
  /** The SHA-256 of the token, which the database stores. */
  hash: string;
}

export function createToken(): Token {
  const token = randomBytes(16).toString("hex");
  return { token, hash: hashToken(token) };
}

/** Returns a SHA-256 in Postgres' text format. Mail gateways change the case of links, so the digits count in small letters. */
export function hashToken(token: string): string {
  return `\\x${hash("sha256", token.toLowerCase())}`;
}
