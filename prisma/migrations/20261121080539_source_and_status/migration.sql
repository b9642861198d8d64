-- CreateEnum
CREATE TYPE "earlyaccess_status" AS ENUM ('waiting', 'invited', 'joined', 'left');

-- AlterTable
ALTER TABLE "earlyaccess" ADD COLUMN     "referrer_host" VARCHAR(253),
ADD COLUMN     "status" "earlyaccess_status" NOT NULL DEFAULT 'waiting',
ADD COLUMN     "utm_campaign" VARCHAR(100),
ADD COLUMN     "utm_content" VARCHAR(100),
ADD COLUMN     "utm_medium" VARCHAR(100),
ADD COLUMN     "utm_source" VARCHAR(100),
ADD COLUMN     "utm_term" VARCHAR(100);

-- CreateTable
CREATE TABLE "earlyaccess_status_changes" (
    "id" BIGSERIAL NOT NULL,
    "entry_id" UUID NOT NULL,
    "changed_by" TEXT NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "old_status" "earlyaccess_status" NOT NULL,
    "new_status" "earlyaccess_status" NOT NULL,

    CONSTRAINT "earlyaccess_status_changes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "earlyaccess_status_changes_entry_id_idx" ON "earlyaccess_status_changes"("entry_id");

-- CreateIndex
CREATE INDEX "earlyaccess_created_at_idx" ON "earlyaccess"("created_at");

-- Whoever may edit an entry needs no right on the trace, and cannot leave none.
CREATE FUNCTION "earlyaccess_log_status"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  INSERT INTO public.earlyaccess_status_changes (entry_id, changed_by, old_status, new_status)
  VALUES (NEW.id, session_user, OLD.status, NEW.status);
  RETURN NULL;
END $$;

REVOKE ALL ON FUNCTION "earlyaccess_log_status"() FROM PUBLIC;

CREATE TRIGGER "earlyaccess_status" AFTER UPDATE ON "earlyaccess"
FOR EACH ROW WHEN (OLD."status" IS DISTINCT FROM NEW."status") EXECUTE FUNCTION "earlyaccess_log_status"();

CREATE FUNCTION "earlyaccess_only_grows"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% only grows', TG_TABLE_NAME;
END $$;

CREATE TRIGGER "earlyaccess_status_changes_only_grows" BEFORE UPDATE OR DELETE OR TRUNCATE ON "earlyaccess_status_changes"
FOR EACH STATEMENT EXECUTE FUNCTION "earlyaccess_only_grows"();
