// The schema earlyaccess_kept: what no restore of the list replaces. Erased addresses, as keyed hashes with their key, and mailings.
import type pg from "pg";

/** In bytes. */
export const longestMailing = 20_480;

/** An SQL expression that names this database, for every role. A restore in place keeps it; a database made from a dump has another. */
export const homeSql = `(SELECT system_identifier || ' ' || oid FROM pg_control_system(), pg_database WHERE datname = current_database())`;

/**
 * Creates what is missing of the schema. No migration does: their record is a table of the list, so a restore of the list brings back a
 * record that knows nothing of this schema. A later column: ADD COLUMN IF NOT EXISTS.
 *
 * Nothing here may hang on the tables of the list (foreign key, view, row type, BEGIN ATOMIC), or `pg_restore --clean` of them fails.
 */
const keptSql = `
DO $$ BEGIN -- Without IF NOT EXISTS, which needs CREATE on the database each time.
  IF to_regnamespace('earlyaccess_kept') IS NULL THEN CREATE SCHEMA earlyaccess_kept; END IF;
END $$;

-- The key of the hashes, two random UUIDs. With another key, no hash is found again: none is drawn beside hashes that have lost theirs.
CREATE TABLE IF NOT EXISTS earlyaccess_kept.keys (
  id boolean CONSTRAINT keys_pkey PRIMARY KEY DEFAULT true CHECK (id),
  key bytea NOT NULL DEFAULT uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) CHECK (octet_length(key) = 32),
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE IF NOT EXISTS earlyaccess_kept.addresses (
  -- The hash of the address, 32 bytes; or the id of an entry whose sign-up was undone, 16 bytes.
  hash bytea CONSTRAINT addresses_pkey PRIMARY KEY CHECK (octet_length(hash) IN (16, 32)),
  erased_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  left_at timestamptz(3) -- When the person left by a link or the undo button.
);
INSERT INTO earlyaccess_kept.keys (id) SELECT true WHERE NOT EXISTS (SELECT FROM earlyaccess_kept.addresses) ON CONFLICT DO NOTHING;

CREATE TABLE IF NOT EXISTS earlyaccess_kept.mailings (
  name varchar(40) COLLATE "C" CONSTRAINT mailings_pkey PRIMARY KEY,
  -- As the file had it, with the subject.
  text text NOT NULL CHECK (octet_length(text) <= ${longestMailing}),
  per_hour int NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  next_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP, -- When the next mail may be sent.
  active_at timestamptz(3), -- When a command last sent it on, or the latest mail was accepted; null if it is stopped.
  failing_since timestamptz(3), -- The first failure that was about no single mailbox, since the latest accepted mail.
  reason varchar(300), -- Why it stopped, or which setting the worker lacks.
  home varchar(40) NOT NULL -- The database that sends it, as homeSql names it.
);
-- A row outlives its entry. It holds neither name nor address.
CREATE TABLE IF NOT EXISTS earlyaccess_kept.mailing_recipients (
  name varchar(40) COLLATE "C" NOT NULL,
  entry_id uuid NOT NULL,
  place int NOT NULL,
  outcome varchar(20), -- Null if it waits; sent, unknown, skipped, given up, or the code with which the mail server refused the address.
  tries int NOT NULL DEFAULT 0, -- Those that the mail server answered with a refusal of this mail.
  due_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP,
  tried_at timestamptz(3),
  reply varchar(300), -- Of the mail server to the latest try, if it was no acceptance. Without addresses.
  token_hash bytea CONSTRAINT mailing_recipients_token_hash_key UNIQUE CHECK (octet_length(token_hash) = 32),
  CONSTRAINT mailing_recipients_pkey PRIMARY KEY (name, entry_id),
  CONSTRAINT mailing_recipients_waits CHECK ((outcome IS NULL) = (due_at IS NOT NULL))
);
-- For each mail: who is next, and how many are unknown.
CREATE INDEX IF NOT EXISTS mailing_recipients_waiting_idx
  ON earlyaccess_kept.mailing_recipients (name, (tries = 0), tried_at NULLS FIRST, place) WHERE outcome IS NULL;
CREATE INDEX IF NOT EXISTS mailing_recipients_unknown_idx
  ON earlyaccess_kept.mailing_recipients (name, tried_at) WHERE outcome = 'unknown';

-- The keyed hash of an address, for the owner and the functions below. Without a key, it fails: null would equal no hash.
CREATE OR REPLACE FUNCTION earlyaccess_kept.hash_email(email text) RETURNS bytea
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  secret bytea := (SELECT key FROM earlyaccess_kept.keys);
BEGIN
  IF secret IS NULL THEN
    RAISE EXCEPTION 'the key of the erased addresses is missing: load the copy of earlyaccess_kept (docs/backup.md, Restore)';
  END IF;
  RETURN sha256(secret || convert_to(email, 'UTF8'));
END $$;

-- When the address was erased, and when it left: the worker asks it before it sends a mail.
CREATE OR REPLACE FUNCTION earlyaccess_kept.erasure_of(email text, OUT erased_at timestamptz, OUT left_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
  SELECT erased_at, left_at FROM earlyaccess_kept.addresses WHERE hash = earlyaccess_kept.hash_email(email)
$$;

-- Deletes entries, and keeps the hashes of their addresses. Returns the number of entries.
CREATE OR REPLACE FUNCTION earlyaccess_kept.keep_erased(ids uuid[]) RETURNS int
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
  WITH erased AS (DELETE FROM public.earlyaccess WHERE id = ANY (ids) RETURNING email),
  kept AS (
    INSERT INTO earlyaccess_kept.addresses (hash) SELECT DISTINCT earlyaccess_kept.hash_email(email) FROM erased
    -- The worker chooses when its transaction begins.
    ON CONFLICT (hash) DO UPDATE SET erased_at = greatest(addresses.erased_at, CURRENT_TIMESTAMP))
  SELECT count(*)::int FROM erased
$$;

-- The entries that a restore or an import brought back: their address was erased after their sign-up, or their sign-up was undone.
CREATE OR REPLACE FUNCTION earlyaccess_kept.brought_back() RETURNS SETOF uuid
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT id FROM public.earlyaccess WHERE EXISTS (
    SELECT FROM earlyaccess_kept.addresses WHERE hash IN (earlyaccess_kept.hash_email(email), uuid_send(id)) AND created_at <= erased_at)
$$;

-- Deletes them, and returns their number. Empties what mail servers said of entries that are gone: a reply may name a person.
CREATE OR REPLACE FUNCTION earlyaccess_kept.erase_again() RETURNS int
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE earlyaccess_kept.mailing_recipients SET reply = NULL
  WHERE reply IS NOT NULL AND NOT EXISTS (SELECT FROM public.earlyaccess WHERE id = entry_id);
  WITH erased AS (DELETE FROM public.earlyaccess WHERE id IN (SELECT earlyaccess_kept.brought_back()) RETURNING id)
  SELECT count(*)::int FROM erased
$$;`;

/** Creates what is missing of the schema; migrating then sets the rights. @param owner with the tables of the list. */
export async function createKept(owner: pg.Client): Promise<void> {
  await owner.query(keptSql);
}
