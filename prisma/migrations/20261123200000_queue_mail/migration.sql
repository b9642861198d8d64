-- The job of a confirmation mail, in one function: for the trigger of a sign-up, for `waitlist unflag`, and for the statements of docs/mail.md.

-- An entry has one job, whose key is its id, so the queue holds no address. Another call replaces the job that waits.
CREATE FUNCTION "earlyaccess_queue_mail"(entry uuid) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM graphile_worker.add_job('mail', json_build_object('entry', entry), job_key => 'mail ' || entry);
END $$;

-- A repeated sign-up finds the id of the entry by its address.
CREATE OR REPLACE FUNCTION "earlyaccess_enqueue"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '250ms' SET enable_seqscan = off AS $$
BEGIN
  IF TG_ARGV[0] = 'mail' THEN
    PERFORM public.earlyaccess_queue_mail(coalesce((SELECT id FROM public.earlyaccess WHERE email = NEW.email), NEW.id));
  ELSE
    PERFORM graphile_worker.add_job('webhook', json_build_object('entry', NEW.id, 'confirmed', TG_OP = 'UPDATE'));
  END IF;
  RETURN NEW;
EXCEPTION WHEN OTHERS THEN
  RAISE WARNING 'no job for a sign-up: %', SQLERRM;
  -- Spares the other sign-ups of this transaction the same wait.
  PERFORM set_config('earlyaccess.silent', 'on', true);
  RETURN NEW;
END $$;
