-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -f prisma/roles/erasures.sql
-- With ERASURE_KEY: the addresses of erased entries, as keyed hashes, in a schema that backups exclude.

CREATE TABLE IF NOT EXISTS earlyaccess_erasures.addresses (
  -- The hash of the address, 32 bytes; or the id of an entry that never had a mail, 16 bytes.
  hash bytea CONSTRAINT addresses_pkey PRIMARY KEY,
  erased_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
-- When the person left by the link of a mail.
ALTER TABLE earlyaccess_erasures.addresses ADD COLUMN IF NOT EXISTS left_at timestamptz(3);
