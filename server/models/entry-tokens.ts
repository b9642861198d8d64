// The tokens in the links of a mail and of the undo button. The database stores only their hashes.
// A mail's link is valid as long as its entry is on the list; the undo button for `undoMinutes`.
import { createHmac, hash, randomBytes } from "node:crypto";
import { fields, type FieldName } from "../../client/shared/fields.ts";

interface Token {
  /** For a URL, 32 hexadecimal digits. */
  token: string;
  /** The SHA-256 of the token, which the database stores. */
  hash: string;
}

export function createToken(bits = randomBytes(16)): Token {
  const token = bits.toString("hex");
  return { token, hash: hashToken(token) };
}

/**
 * Returns the token of the undo button. If a sign-up is repeated because its response was lost, the token is the same: the entry has
 * the hash of the first.
 * @param key the 128 bits that the browser drew for the form, in hex. Without them, the token is random.
 */
export function createUndoToken(key: unknown, entry: Record<FieldName, string | null>): Token {
  if (typeof key !== "string" || !/^[\da-f]{32}$/.test(key)) return createToken();
  const values = JSON.stringify(fields.map(({ name }) => entry[name]));
  return createToken(createHmac("sha256", Buffer.from(key, "hex")).update(values).digest().subarray(0, 16));
}

/** Returns a SHA-256 in Postgres' text format. Mail gateways change the case of links, so the digits count in small letters. */
export function hashToken(token: string): string {
  return `\\x${hash("sha256", token.toLowerCase())}`;
}
