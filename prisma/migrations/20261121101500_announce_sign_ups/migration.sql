-- Puts a job for the sender of notices into the queue, in the transaction of the sign-up. Disabled: migrating makes the
-- queue and enables the trigger where NOTIFY_WEBHOOK_URL is set.
--
-- The owner's rights, so that the web role needs none on the queue. A queue that is broken costs a notice, never a sign-up;
-- one that is locked, by a long migration of its own or by a sender that was taken over, also a quarter of a second.
CREATE FUNCTION "earlyaccess_announce"() RETURNS trigger
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

REVOKE ALL ON FUNCTION "earlyaccess_announce"() FROM PUBLIC;

-- Before, not after: a known address does the same work as a new one, and cannot be told by its speed. The sender finds no
-- entry for it, and says nothing. What an operator imports is not announced.
CREATE TRIGGER "earlyaccess_announce" BEFORE INSERT ON "earlyaccess"
FOR EACH ROW WHEN (current_setting('earlyaccess.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "earlyaccess_announce"();

ALTER TABLE "earlyaccess" DISABLE TRIGGER "earlyaccess_announce";
