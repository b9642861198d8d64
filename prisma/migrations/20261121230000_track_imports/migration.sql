-- AlterTable
ALTER TABLE "earlyaccess" ADD COLUMN     "import_id" UUID;

-- CreateTable
CREATE TABLE "earlyaccess_imports" (
    "id" UUID NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "earlyaccess_imports_pkey" PRIMARY KEY ("id")
);

-- Keeps an entry that an unfinished import added, if its address signs up: the sign-up is answered 201, but inserts nothing.
-- Without this, the entry would be removed if the import failed. Enabled only while an import is unfinished.
--
-- The advisory lock makes the sign-up wait for the batch that the import is inserting (import-batches.ts). The entries of
-- that batch are not visible to the UPDATE, but ON CONFLICT DO NOTHING would skip the sign-up because of them.
CREATE FUNCTION "earlyaccess_keep_sign_up"() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(4155221);
  UPDATE public.earlyaccess SET import_id = NULL
  WHERE email = NEW.email AND import_id IN (SELECT id FROM public.earlyaccess_imports WHERE finished_at IS NULL);
  RETURN NEW;
END $$;

REVOKE ALL ON FUNCTION "earlyaccess_keep_sign_up"() FROM PUBLIC;

-- The entries of the import itself have an import_id.
CREATE TRIGGER "earlyaccess_keep_sign_up" BEFORE INSERT ON "earlyaccess"
FOR EACH ROW WHEN (NEW."import_id" IS NULL) EXECUTE FUNCTION "earlyaccess_keep_sign_up"();

ALTER TABLE "earlyaccess" DISABLE TRIGGER "earlyaccess_keep_sign_up";
