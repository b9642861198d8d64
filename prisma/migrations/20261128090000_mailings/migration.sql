-- The link to leave in mailings (server/database/erasures-schema.ts). The function is that of the first migration, and also finds
-- the token of a mailing.
-- id = (SELECT …): with IN, a forged token would read the whole list. Without ERASURE_KEY, there is no table of mailings.
CREATE OR REPLACE FUNCTION "earlyaccess_leave"(hash bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
  erased bytea;
BEGIN
  IF to_regclass('earlyaccess_erasures.mailing_recipients') IS NOT NULL THEN
    DELETE FROM public.earlyaccess
    WHERE mail_tokens @> ARRAY[hash]
      OR (token_hash = hash AND mailed_at IS NULL AND created_at > CURRENT_TIMESTAMP - interval '1 hour')
      OR id = (SELECT entry_id FROM earlyaccess_erasures.mailing_recipients AS mailed WHERE mailed.token_hash = hash)
    RETURNING coalesce(erasure_hash, uuid_send(id)) INTO erased;
  ELSE
    DELETE FROM public.earlyaccess
    WHERE mail_tokens @> ARRAY[hash]
      OR (token_hash = hash AND mailed_at IS NULL AND created_at > CURRENT_TIMESTAMP - interval '1 hour')
    RETURNING coalesce(erasure_hash, uuid_send(id)) INTO erased;
  END IF;
  IF erased IS NOT NULL AND to_regclass('earlyaccess_erasures.addresses') IS NOT NULL THEN
    INSERT INTO earlyaccess_erasures.addresses (hash, left_at) VALUES (erased, CURRENT_TIMESTAMP)
    ON CONFLICT ON CONSTRAINT addresses_pkey DO UPDATE SET erased_at = CURRENT_TIMESTAMP, left_at = CURRENT_TIMESTAMP;
  END IF;
  RETURN erased IS NOT NULL;
END $$;
