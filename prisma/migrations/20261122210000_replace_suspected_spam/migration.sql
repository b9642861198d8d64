-- A bot that fills in the honeypot field cannot keep a person off the list: the person's own sign-up replaces the bot's
-- entry. The web role has no right to delete. Every sign-up runs the DELETE, so that its time is the same for a new and for
-- a known address. An entry whose status an admin has changed stays.
CREATE FUNCTION "earlyaccess_replace_suspected_spam"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM public.earlyaccess WHERE email = NEW.email AND suspected_spam AND status = 'waiting';
  RETURN NEW;
END $$;

REVOKE ALL ON FUNCTION "earlyaccess_replace_suspected_spam"() FROM PUBLIC;

CREATE TRIGGER "earlyaccess_replace_suspected_spam" BEFORE INSERT ON "earlyaccess"
FOR EACH ROW WHEN (NOT NEW."suspected_spam" AND NEW."import_id" IS NULL) EXECUTE FUNCTION "earlyaccess_replace_suspected_spam"();

-- As before, but an undone sign-up leaves a trace, too: its id in place of the hash of its address, which a sign-up does not
-- store. A restore then does not bring the entry back.
CREATE OR REPLACE FUNCTION "earlyaccess_leave"(hash bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  erased bytea;
BEGIN
  DELETE FROM public.earlyaccess
  WHERE token_hash = hash AND (mailed_at IS NOT NULL OR created_at > CURRENT_TIMESTAMP - interval '1 hour')
  RETURNING coalesce(erasure_hash, uuid_send(id)) INTO erased;
  IF erased IS NOT NULL AND to_regclass('earlyaccess_erasures.addresses') IS NOT NULL THEN
    INSERT INTO earlyaccess_erasures.addresses (hash) VALUES (erased)
    ON CONFLICT ON CONSTRAINT addresses_pkey DO UPDATE SET erased_at = CURRENT_TIMESTAMP;
  END IF;
END $$;
