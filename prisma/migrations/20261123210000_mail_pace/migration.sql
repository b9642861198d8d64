-- The pace of confirmation mails (server/models/mail-pace.ts), and an address that left, which gets no mail for 30 days.

CREATE INDEX "earlyaccess_mailed_at_idx" ON "earlyaccess"("mailed_at");

-- prisma/roles/erasures.sql adds it, too, for a schema that is created or restored later.
ALTER TABLE IF EXISTS earlyaccess_erasures.addresses ADD COLUMN IF NOT EXISTS left_at timestamptz(3);

-- As in the initial migration, but marks the address as left: an erasure and the retention period store the same hash without it.
CREATE OR REPLACE FUNCTION "earlyaccess_leave"(hash bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
  erased bytea;
BEGIN
  DELETE FROM public.earlyaccess
  WHERE mail_tokens @> ARRAY[hash]
    OR (token_hash = hash AND mailed_at IS NULL AND created_at > CURRENT_TIMESTAMP - interval '1 hour')
  RETURNING coalesce(erasure_hash, uuid_send(id)) INTO erased;
  IF erased IS NOT NULL AND to_regclass('earlyaccess_erasures.addresses') IS NOT NULL THEN
    INSERT INTO earlyaccess_erasures.addresses (hash, left_at) VALUES (erased, CURRENT_TIMESTAMP)
    ON CONFLICT ON CONSTRAINT addresses_pkey DO UPDATE SET erased_at = CURRENT_TIMESTAMP, left_at = CURRENT_TIMESTAMP;
  END IF;
  RETURN erased IS NOT NULL;
END $$;
