-- The time of a status change is the clock's: that of the transaction is its start, which a session can choose.

CREATE OR REPLACE FUNCTION "earlyaccess_log_status"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.earlyaccess_status_changes (entry_id, changed_by, changed_at, old_status, new_status)
  VALUES (NEW.id, session_user, clock_timestamp(), OLD.status, NEW.status);
  RETURN NULL;
END $$;
