// The schema earlyaccess_erasures, which no backup contains and so no restore replaces: the addresses of erased entries, as keyed hashes.
import type pg from "pg";

/** Not a migration: only an installation with ERASURE_KEY needs it, and it takes the right CREATE on the database. */
const erasuresSql = `
DO $$ BEGIN -- Without IF NOT EXISTS, which needs CREATE on the database each time.
  IF to_regnamespace('earlyaccess_erasures') IS NULL THEN CREATE SCHEMA earlyaccess_erasures; END IF;
END $$;
CREATE TABLE IF NOT EXISTS earlyaccess_erasures.addresses (
  -- The hash of the address, 32 bytes; or the id of an entry that never had a mail, 16 bytes.
  hash bytea CONSTRAINT addresses_pkey PRIMARY KEY CHECK (octet_length(hash) IN (16, 32)),
  erased_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  left_at timestamptz(3) -- When the person left by the link of a mail.
);`;

/** Creates what is missing of the schema; migrating then sets its rights. */
export async function createErasures(owner: pg.Client): Promise<void> {
  await owner.query(erasuresSql);
}
