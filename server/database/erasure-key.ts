// The key of erased addresses (ERASURE_KEY): their hashes, and the check that it is the key of this database.
import { createHmac } from "node:crypto";
import type pg from "pg";
import { OperatorError } from "../errors.ts";

/** @param email normalised. */
export function hashEmail(email: string, key: string): Buffer {
  return createHmac("sha256", key).update(email).digest();
}

/** If the table is new, stores the hash of the empty address, by which later processes recognise the key. */
export async function storeKeyHash(owner: pg.Client, key: string): Promise<void> {
  await owner.query(
    "INSERT INTO earlyaccess_erasures.addresses SELECT $1 WHERE NOT EXISTS (SELECT FROM earlyaccess_erasures.addresses)",
    [hashEmail("", key)],
  );
  await requireErasureKey(owner, key);
}

/** Requires the key if the database keeps erased addresses: without it, they could return. Returns whether it keeps them. */
export async function requireErasureKey(client: pg.Client, key: string | undefined): Promise<boolean> {
  const { rows } = await client.query("SELECT to_regclass('earlyaccess_erasures.addresses') IS NOT NULL AS found");
  if (!rows[0].found && key === undefined) return false;
  if (!rows[0].found) {
    throw new OperatorError("There is no table for erased addresses yet. Migrate with ERASURE_KEY set.");
  }
  if (key === undefined) {
    throw new OperatorError(
      "ERASURE_KEY is not set, but this database stores erased addresses with a key. Set the same key: ERASURE_KEY=…",
    );
  }
  const select = "SELECT FROM earlyaccess_erasures.addresses WHERE hash = $1";
  const { rowCount } = await client.query(select, [hashEmail("", key)]);
  if (rowCount) return true;
  throw new OperatorError(
    "ERASURE_KEY is not the key of this database's erased addresses. Set the key that was set when they were first stored. If it is lost, see docs/privacy.md, Erased addresses.",
  );
}
