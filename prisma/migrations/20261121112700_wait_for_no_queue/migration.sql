-- A queue that is locked, by a long migration of its own or by a sender that was taken over, kept sign-ups waiting until
-- Postgres ended them, which no handler catches. Now it costs their notices and a quarter of a second.
CREATE OR REPLACE FUNCTION "earlyaccess_announce"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '250ms' AS $$
BEGIN
  PERFORM graphile_worker.add_job('announce', json_build_object('entry', NEW.id));
  RETURN NEW;
EXCEPTION WHEN OTHERS THEN
  RAISE WARNING 'a sign-up is not announced: %', SQLERRM;
  -- For those in the same transaction, which would each wait as long.
  PERFORM set_config('earlyaccess.silent', 'on', true);
  RETURN NEW;
END $$;
