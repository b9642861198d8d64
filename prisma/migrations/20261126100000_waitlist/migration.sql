-- The schema of the waitlist: tables, append-only tables, status history, jobs for the worker, rules of a sign-up, links in mails,
-- page views.
-- Who may do what is in server/database/roles.ts. What each column means is in prisma/schema.prisma. What no restore of these tables
-- replaces is in server/database/kept-schema.ts; nothing here may hang on that schema, or `pg_restore --clean` of this one fails.
--
-- Whatever a role may insert has a limit: one value of 540 MB would end every pg_dump. Texts that are keys are COLLATE "C", because the
-- order of other collations changes with the version of libc, and an index in the old order no longer finds its keys.
--
-- Every SECURITY DEFINER function runs with the owner's rights, so it names the schema of each table, and its search_path is
-- Postgres' own: otherwise, a table or function of another role could take the place of the one that is meant.

-- ==== Tables ====

CREATE TYPE "earlyaccess_status" AS ENUM ('waiting', 'invited', 'joined', 'left');

-- One person on the waitlist.
CREATE TABLE "earlyaccess" (
    "id" UUID NOT NULL,
    "name" VARCHAR(100) NOT NULL,
    "email" VARCHAR(254) COLLATE "C" NOT NULL,
    "company" VARCHAR(200) NOT NULL,
    "job_title" VARCHAR(100),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "suspected_spam" BOOLEAN NOT NULL DEFAULT false,
    "utm_source" VARCHAR(100),
    "utm_medium" VARCHAR(100),
    "utm_campaign" VARCHAR(100),
    "utm_term" VARCHAR(100),
    "utm_content" VARCHAR(100),
    "referrer_host" VARCHAR(253),
    "status" "earlyaccess_status" NOT NULL DEFAULT 'waiting',
    "imported" BOOLEAN NOT NULL DEFAULT false,
    "notice_id" CHAR(32),
    "token_hash" BYTEA,
    "mail_tokens" BYTEA[],
    "mailed_at" TIMESTAMPTZ(3),
    "mail_refusal" VARCHAR(20),
    "confirmed_at" TIMESTAMPTZ(3),
    "invitation" VARCHAR(50),

    CONSTRAINT "earlyaccess_pkey" PRIMARY KEY ("id"),
    -- "Unique" means unique in any case, also for an address that an administrator types.
    CONSTRAINT "earlyaccess_email_lower_case" CHECK ("email" = lower("email")),
    -- Hashes of 32 bytes: array_send needs 36 bytes for each of at most three, and 20 for the list.
    CONSTRAINT "earlyaccess_hashes" CHECK (octet_length("token_hash") = 32 AND octet_length(array_send("mail_tokens")) <= 128)
);

CREATE UNIQUE INDEX "earlyaccess_email_key" ON "earlyaccess"("email");
CREATE UNIQUE INDEX "earlyaccess_token_hash_key" ON "earlyaccess"("token_hash");
-- fastupdate = off: a look-up of a forged token would otherwise read the whole list of pending insertions.
CREATE INDEX "earlyaccess_mail_tokens_idx" ON "earlyaccess" USING gin ("mail_tokens") WITH (fastupdate = off)
WHERE "mail_tokens" IS NOT NULL;
-- For the pace of confirmation mails, which counts the latest mails and confirmations.
CREATE INDEX "earlyaccess_mailed_at_idx" ON "earlyaccess"("mailed_at");
CREATE INDEX "earlyaccess_confirmed_at_idx" ON "earlyaccess"("confirmed_at") WHERE "confirmed_at" IS NOT NULL;

-- The status history: who changed which status, and when. No foreign key: it outlives the entry.
CREATE TABLE "earlyaccess_status_changes" (
    "id" BIGSERIAL NOT NULL,
    "entry_id" UUID NOT NULL,
    "changed_by" TEXT NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "old_status" "earlyaccess_status" NOT NULL,
    "new_status" "earlyaccess_status" NOT NULL,

    CONSTRAINT "earlyaccess_status_changes_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "earlyaccess_status_changes_entry_id_idx" ON "earlyaccess_status_changes"("entry_id");

-- The privacy notices that the form has shown.
CREATE TABLE "earlyaccess_notices" (
    "id" CHAR(32) COLLATE "C" NOT NULL,
    "text" TEXT NOT NULL,
    "shown_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "earlyaccess_notices_pkey" PRIMARY KEY ("id"),
    -- The id is a hash of the text, so that nobody can store another text under it.
    CONSTRAINT "earlyaccess_notices_id_of_text" CHECK ("id" = left(encode(sha256(convert_to("text", 'UTF8')), 'hex'), 32)),
    CONSTRAINT "earlyaccess_notices_length" CHECK (octet_length("text") <= 65536)
);

-- Page views: one row per day and source.
CREATE TABLE "earlyaccess_views" (
    "day" DATE NOT NULL,
    "source" VARCHAR(253) COLLATE "C" NOT NULL,
    "views" INTEGER NOT NULL,

    CONSTRAINT "earlyaccess_views_pkey" PRIMARY KEY ("day", "source"),
    -- The web role may add any counts. These are the values that `waitlist stats` can show.
    CONSTRAINT "earlyaccess_views_possible" CHECK ("views" > 0 AND "day" BETWEEN '1970-01-01' AND '9999-12-31')
);

-- The jobs of confirmation mails that passed the pace: one row per minute. A job counts, whether or not a mail follows: otherwise, the
-- number of one's own mails would tell whether an address is on the list.
CREATE TABLE "earlyaccess_mail_passes" (
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "jobs" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "earlyaccess_mail_passes_pkey" PRIMARY KEY ("minute")
);

-- The daily backups that passed their test.
CREATE TABLE "earlyaccess_backups" (
    "finished_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "entries" INTEGER NOT NULL,

    CONSTRAINT "earlyaccess_backups_pkey" PRIMARY KEY ("finished_at")
);

-- The applied migrations, as Prisma's own commands record them.
CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    "id" VARCHAR(36) NOT NULL,
    "checksum" VARCHAR(64) NOT NULL,
    "finished_at" TIMESTAMPTZ,
    "migration_name" VARCHAR(255) NOT NULL,
    "logs" TEXT,
    "rolled_back_at" TIMESTAMPTZ,
    "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
    "applied_steps_count" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "_prisma_migrations_pkey" PRIMARY KEY ("id")
);

-- ==== Append-only tables ====

CREATE FUNCTION "earlyaccess_append_only"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$;

CREATE TRIGGER "earlyaccess_status_changes_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "earlyaccess_status_changes"
FOR EACH STATEMENT EXECUTE FUNCTION "earlyaccess_append_only"();

CREATE TRIGGER "earlyaccess_notices_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "earlyaccess_notices"
FOR EACH STATEMENT EXECUTE FUNCTION "earlyaccess_append_only"();

-- ==== Status history ====

-- Adds a change of a status to the history. session_user is the login, also after SET ROLE. An admin needs no right on the history.
-- The time is the clock's: that of the transaction is its start, which a session can choose.
CREATE FUNCTION "earlyaccess_log_status"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.earlyaccess_status_changes (entry_id, changed_by, changed_at, old_status, new_status)
  VALUES (NEW.id, session_user, clock_timestamp(), OLD.status, NEW.status);
  RETURN NULL;
END $$;

CREATE TRIGGER "earlyaccess_status" AFTER UPDATE ON "earlyaccess"
FOR EACH ROW WHEN (OLD."status" IS DISTINCT FROM NEW."status") EXECUTE FUNCTION "earlyaccess_log_status"();

-- ==== Jobs for the worker ====

-- The job of a confirmation mail: for the trigger of a sign-up and for `waitlist retry`. An entry has one job, whose key is its
-- id, so the queue holds no address. Another call replaces the job that waits.
CREATE FUNCTION "earlyaccess_queue_mail"(entry uuid) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM graphile_worker.add_job('mail', json_build_object('entry', entry), job_key => 'mail ' || entry);
END $$;

-- Adds a job to the worker's queue (graphile-worker), in the transaction of the sign-up or confirmation. The trigger's argument is the
-- task. If the queue fails, or is locked for 250 ms, the sign-up is stored without its job, and so are the later ones of its transaction.
-- A repeated sign-up finds the id of the entry by its address.
-- enable_seqscan: a connection keeps its first plan, which for an empty table would be to read all of it.
CREATE FUNCTION "earlyaccess_enqueue"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '250ms' SET enable_seqscan = off AS $$
BEGIN
  IF TG_ARGV[0] = 'mail' THEN
    PERFORM public.earlyaccess_queue_mail(coalesce((SELECT id FROM public.earlyaccess WHERE email = NEW.email), NEW.id));
  ELSE
    PERFORM graphile_worker.add_job('webhook', json_build_object('entry', NEW.id, 'confirmed', TG_OP = 'UPDATE'));
  END IF;
  RETURN NEW;
EXCEPTION WHEN OTHERS THEN
  RAISE WARNING 'no job for an entry: %', SQLERRM;
  -- Spares the other sign-ups and confirmations of this transaction the same wait.
  PERFORM set_config('earlyaccess.silent', 'on', true);
  RETURN NEW;
END $$;

-- Before the INSERT, so that a known address does the same work and takes the same time as a new one; the worker drops jobs that
-- have no entry or need no mail. A flagged sign-up gets neither webhook nor mail. Imports set earlyaccess.silent.
CREATE TRIGGER "earlyaccess_webhook" BEFORE INSERT ON "earlyaccess"
FOR EACH ROW WHEN (NOT NEW."suspected_spam"
  AND current_setting('earlyaccess.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "earlyaccess_enqueue"('webhook');

-- Triggers run in the order of their names: after earlyaccess_replace_suspected_spam, which may delete the entry of the address.
CREATE TRIGGER "earlyaccess_send_mail" BEFORE INSERT ON "earlyaccess"
FOR EACH ROW WHEN (NOT NEW."suspected_spam"
  AND current_setting('earlyaccess.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "earlyaccess_enqueue"('mail');

CREATE TRIGGER "earlyaccess_webhook_confirmed" AFTER UPDATE ON "earlyaccess"
FOR EACH ROW WHEN (OLD."confirmed_at" IS NULL AND NEW."confirmed_at" IS NOT NULL
  AND current_setting('earlyaccess.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "earlyaccess_enqueue"('webhook');

-- Disabled until somebody wants the jobs: after the migrations, migrating creates the queue and enables the triggers of the
-- tasks in its settings.
ALTER TABLE "earlyaccess"
  DISABLE TRIGGER "earlyaccess_webhook",
  DISABLE TRIGGER "earlyaccess_send_mail",
  DISABLE TRIGGER "earlyaccess_webhook_confirmed";

-- ==== Rules of a sign-up ====

-- The sign-up of a person replaces a waiting entry of a bot (honeypot) with the same address. The web role may not delete. Runs for new
-- and known addresses alike, so that the time tells nothing; not for bots and imports. enable_seqscan: see earlyaccess_enqueue.
CREATE FUNCTION "earlyaccess_replace_suspected_spam"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
  DELETE FROM public.earlyaccess WHERE email = NEW.email AND suspected_spam AND status = 'waiting';
  RETURN NEW;
END $$;

CREATE TRIGGER "earlyaccess_replace_suspected_spam" BEFORE INSERT ON "earlyaccess"
FOR EACH ROW WHEN (NOT NEW."suspected_spam" AND NOT NEW."imported") EXECUTE FUNCTION "earlyaccess_replace_suspected_spam"();

-- ==== Links in mails, and the undo button ====

-- Confirms the address of an entry (double opt-in). Returns whether the token was mailed, also if it was used before.
CREATE FUNCTION "earlyaccess_confirm"(hash bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
  UPDATE public.earlyaccess SET confirmed_at = CURRENT_TIMESTAMP WHERE mail_tokens @> ARRAY[hash] AND confirmed_at IS NULL;
  RETURN EXISTS (SELECT FROM public.earlyaccess WHERE mail_tokens @> ARRAY[hash]);
END $$;

-- Deletes the entry of a mailed link (unsubscribe) or of an undo button, and returns whether there was one. The button works for an
-- hour, and only until a mail is sent: otherwise, whoever signed up another person's address could remove it later, and undo would reset
-- the count of its mails. A mailed link keeps the hash of the address, against restores and imports, and the time, because the address
-- gets no mail for some time. The button keeps the id of the entry, against restores only: whoever types the address of a stranger must
-- not keep that person from mails and imports.
-- id = (SELECT …): with IN, a forged token would read the whole list. enable_seqscan: see earlyaccess_enqueue. plan_cache_mode: a plan
-- for one value shows it to a role that sets debug_print_plan.
CREATE FUNCTION "earlyaccess_leave"(hash bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  erased bytea;
BEGIN
  DELETE FROM public.earlyaccess
  WHERE mail_tokens @> ARRAY[hash]
    OR (token_hash = hash AND mailed_at IS NULL AND created_at > CURRENT_TIMESTAMP - interval '1 hour')
    OR id = (SELECT entry_id FROM earlyaccess_kept.mailing_recipients AS mailed WHERE mailed.token_hash = hash)
  RETURNING CASE WHEN token_hash = hash THEN uuid_send(id) ELSE earlyaccess_kept.hash_email(email) END INTO erased;
  IF erased IS NULL THEN
    RETURN false;
  END IF;
  INSERT INTO earlyaccess_kept.addresses (hash, left_at) VALUES (erased, CURRENT_TIMESTAMP)
  ON CONFLICT ON CONSTRAINT addresses_pkey DO UPDATE SET erased_at = CURRENT_TIMESTAMP, left_at = CURRENT_TIMESTAMP;
  RETURN true;
END $$;

-- ==== Page views ====

-- Adds views to the count of a day and source. The web role can neither read nor change the counts.
CREATE FUNCTION "earlyaccess_count_views"(day date, source text, views int) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO public.earlyaccess_views AS counted (day, source, views) VALUES (day, source, views)
  ON CONFLICT ON CONSTRAINT earlyaccess_views_pkey DO UPDATE SET views = least(counted.views::bigint + EXCLUDED.views, 2147483647)
$$;
