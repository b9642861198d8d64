-- As before, but returns whether the token is valid. It is in a mail only, so that this tells nobody who is on the list; a second
-- click returns the same. An undo button's token confirms nothing: no mail was sent with it.
DROP FUNCTION "earlyaccess_confirm"(bytea);

CREATE FUNCTION "earlyaccess_confirm"(hash bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.earlyaccess SET confirmed_at = coalesce(confirmed_at, CURRENT_TIMESTAMP)
  WHERE token_hash = hash AND mailed_at IS NOT NULL;
  RETURN FOUND;
END $$;

REVOKE ALL ON FUNCTION "earlyaccess_confirm"(bytea) FROM PUBLIC;
