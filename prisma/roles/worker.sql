-- psql "$DATABASE_OWNER_URL" -1 -v ON_ERROR_STOP=1 -v worker=perennial_worker -f prisma/roles/worker.sql
-- The worker: empties the queue. Its other rights depend on its tasks, whose files follow this one.

REVOKE ALL ON public.earlyaccess, public.earlyaccess_status_changes, public.earlyaccess_notices,
  public.earlyaccess_views, public.earlyaccess_backups, public.earlyaccess_mail_passes FROM :"worker" CASCADE;
GRANT USAGE ON SCHEMA graphile_worker TO :"worker";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA graphile_worker TO :"worker";
-- For the metric of the last backup.
GRANT SELECT (finished_at) ON public.earlyaccess_backups TO :"worker";
