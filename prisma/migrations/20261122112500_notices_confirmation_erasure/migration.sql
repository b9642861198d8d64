-- AlterTable
ALTER TABLE "earlyaccess" ADD COLUMN     "confirmed_at" TIMESTAMPTZ(3),
ADD COLUMN     "erasure_hash" BYTEA,
ADD COLUMN     "mail_refusal" VARCHAR(20),
ADD COLUMN     "mailed_at" TIMESTAMPTZ(3),
ADD COLUMN     "notice_id" CHAR(32),
ADD COLUMN     "token_hash" BYTEA;

-- CreateTable
CREATE TABLE "earlyaccess_notices" (
    "id" CHAR(32) NOT NULL,
    "text" TEXT NOT NULL,
    "shown_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "earlyaccess_notices_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "earlyaccess_token_hash_key" ON "earlyaccess"("token_hash");

-- The id says what the text is, so that nobody can store another text under it.
ALTER TABLE "earlyaccess_notices" ADD CONSTRAINT "earlyaccess_notices_id_of_text"
CHECK ("id" = left(encode(sha256(convert_to("text", 'UTF8')), 'hex'), 32));

CREATE TRIGGER "earlyaccess_notices_only_grows" BEFORE UPDATE OR DELETE OR TRUNCATE ON "earlyaccess_notices"
FOR EACH STATEMENT EXECUTE FUNCTION "earlyaccess_only_grows"();

-- As before, but the trigger names the task, and a job says whether the entry is new or was confirmed.
CREATE OR REPLACE FUNCTION "earlyaccess_announce"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '250ms' AS $$
BEGIN
  PERFORM graphile_worker.add_job(coalesce(TG_ARGV[0], 'announce'),
                                  json_build_object('entry', NEW.id, 'confirmed', TG_OP = 'UPDATE'));
  RETURN NEW;
EXCEPTION WHEN OTHERS THEN
  RAISE WARNING 'no job for a sign-up: %', SQLERRM;
  -- For those in the same transaction, which would each wait as long.
  PERFORM set_config('earlyaccess.silent', 'on', true);
  RETURN NEW;
END $$;

-- Before the INSERT, also for a known address, like earlyaccess_announce. Migrating enables these two triggers where
-- MAIL_FROM and NOTIFY_WEBHOOK_URL are set.
CREATE TRIGGER "earlyaccess_send_mail" BEFORE INSERT ON "earlyaccess"
FOR EACH ROW WHEN (current_setting('earlyaccess.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "earlyaccess_announce"('mail');

CREATE TRIGGER "earlyaccess_announce_confirmed" AFTER UPDATE ON "earlyaccess"
FOR EACH ROW WHEN (OLD."confirmed_at" IS NULL AND NEW."confirmed_at" IS NOT NULL) EXECUTE FUNCTION "earlyaccess_announce"('announce');

ALTER TABLE "earlyaccess" DISABLE TRIGGER "earlyaccess_send_mail", DISABLE TRIGGER "earlyaccess_announce_confirmed";

-- The web role, which may not read the list, executes these two. They return nothing: nobody learns whether the token existed.

-- An undo button's token confirms nothing: no mail was sent with it.
CREATE FUNCTION "earlyaccess_confirm"(hash bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  UPDATE public.earlyaccess SET confirmed_at = CURRENT_TIMESTAMP
  WHERE token_hash = hash AND mailed_at IS NOT NULL AND confirmed_at IS NULL;
END $$;

-- Deletes the entry. An undo button works for an hour: whoever signs up another person's address cannot remove it later.
-- Migrating creates the table of erased addresses where ERASURE_KEY is set.
CREATE FUNCTION "earlyaccess_leave"(hash bytea) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  erased bytea;
BEGIN
  DELETE FROM public.earlyaccess
  WHERE token_hash = hash AND (mailed_at IS NOT NULL OR created_at > CURRENT_TIMESTAMP - interval '1 hour')
  RETURNING erasure_hash INTO erased;
  IF erased IS NOT NULL AND to_regclass('earlyaccess_erasures.addresses') IS NOT NULL THEN
    INSERT INTO earlyaccess_erasures.addresses (hash) VALUES (erased)
    ON CONFLICT ON CONSTRAINT addresses_pkey DO UPDATE SET erased_at = CURRENT_TIMESTAMP;
  END IF;
END $$;

REVOKE ALL ON FUNCTION "earlyaccess_confirm"(bytea), "earlyaccess_leave"(bytea) FROM PUBLIC;
