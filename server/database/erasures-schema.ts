// The schema earlyaccess_erasures, which no backup contains and so no restore replaces: erased addresses, as keyed hashes, and mailings.
import type pg from "pg";
import { storeKeyHash } from "./erasure-key.ts";

/** In bytes. */
export const longestMailing = 20_480;

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
);
CREATE TABLE IF NOT EXISTS earlyaccess_erasures.mailings (
  name varchar(40) COLLATE "C" CONSTRAINT mailings_pkey PRIMARY KEY,
  -- As the file had it, with the subject.
  text text NOT NULL CHECK (octet_length(text) <= ${longestMailing}),
  per_hour int NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  active_at timestamptz(3), -- When it was last sent on by a command, or the latest mail was accepted; null if it is stopped.
  reply varchar(300) -- The mail server's latest refusal since then, without addresses.
);
-- No foreign keys: a row outlives its entry, and no sign-up waits for a lock. It holds neither name nor address.
CREATE TABLE IF NOT EXISTS earlyaccess_erasures.mailing_recipients (
  name varchar(40) COLLATE "C" NOT NULL,
  entry_id uuid NOT NULL,
  place int NOT NULL,
  outcome varchar(20), -- Null if it waits; sent, unknown, skipped, or the code with which the mail server refused the address.
  tried_at timestamptz(3),
  token_hash bytea CONSTRAINT mailing_recipients_token_hash_key UNIQUE CHECK (octet_length(token_hash) = 32),
  CONSTRAINT mailing_recipients_pkey PRIMARY KEY (name, entry_id)
);
CREATE INDEX IF NOT EXISTS mailing_recipients_waiting_idx
  ON earlyaccess_erasures.mailing_recipients (name, tried_at NULLS FIRST, place) WHERE outcome IS NULL;`;

/** Creates what is missing of the schema, and requires the key of its hashes; migrating then sets the rights. */
export async function createErasures(owner: pg.Client, key: string): Promise<void> {
  await owner.query(erasuresSql);
  await storeKeyHash(owner, key);
}
